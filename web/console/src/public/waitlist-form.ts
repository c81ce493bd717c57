const EMAIL = /^[^\s@]+@[^\s@]+\.[^\s@]+$/;

export function startWaitlistForm(): void {
  const form = document.querySelector<HTMLFormElement>('[data-waitlist]');
  form?.addEventListener('submit', (event) => {
    event.preventDefault();
    void submit(form);
  });
}

async function submit(form: HTMLFormElement): Promise<void> {
  const input = form.querySelector('input');
  const email = (input?.value ?? '').trim();
  const valid = EMAIL.test(email);
  input?.setAttribute('aria-invalid', String(!valid));
  say(form, '#waitlist-email', valid ? '' : form.dataset['invalid']);
  say(form, '#waitlist-answer', '');
  if (!valid) {
    input?.focus();
    return;
  }
  const button = form.querySelector('button');
  button?.setAttribute('aria-busy', 'true');
  if (button !== null) button.disabled = true;
  const status = await send({
    email,
    use_case: (form.querySelector('textarea')?.value ?? '').trim(),
    language: form.dataset['language'],
  });
  button?.removeAttribute('aria-busy');
  if (button !== null) button.disabled = false;
  if (status === 202) return joined(form);
  say(form, '#waitlist-answer', form.dataset[status === 429 ? 'busy' : 'failed']);
}

/** The form has done its work: what to do meanwhile takes its place, and the focus. */
function joined(form: HTMLFormElement): void {
  const next = form.parentElement?.querySelector<HTMLElement>('[data-joined]');
  form.hidden = true;
  next?.removeAttribute('hidden');
  next?.focus();
}

async function send(body: unknown): Promise<number> {
  try {
    const response = await fetch('/console-api/waitlist', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    return response.status;
  } catch {
    return 0;
  }
}

function say(form: HTMLFormElement, place: string, text = ''): void {
  const shown = form.querySelector(place);
  if (shown !== null) shown.textContent = text;
}
