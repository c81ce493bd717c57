/** Plays the recorded examples and reveals their words at the times the service returned them. */
export function startPlayers(): void {
  for (const player of document.querySelectorAll<HTMLElement>('[data-player]')) startPlayer(player);
  for (const tab of document.querySelectorAll('input[name="language"]')) {
    tab.addEventListener('change', () => {
      for (const audio of document.querySelectorAll('audio')) audio.pause();
    });
  }
}

function startPlayer(player: HTMLElement): void {
  const audio = player.querySelector('audio');
  const button = player.querySelector<HTMLButtonElement>('[data-play]');
  if (audio === null || button === null) return;
  const words = [...player.querySelectorAll<HTMLElement>('[data-end]')];
  const bars = [...player.querySelectorAll<SVGLineElement>('[data-wave] line')];
  const durationMs = Number(player.dataset['duration']);

  function paint(): void {
    const atMs = (audio?.currentTime ?? 0) * 1_000;
    for (const word of words) {
      word.classList.toggle('opacity-0', Number(word.dataset['end']) > atMs);
    }
    for (const [index, bar] of bars.entries()) {
      bar.classList.toggle('stroke-accent', index / bars.length < atMs / durationMs);
    }
    if (audio?.paused === false) requestAnimationFrame(paint);
  }
  function showState(playing: boolean): void {
    for (const shape of player.querySelectorAll<SVGPathElement>('[data-shape]')) {
      shape.classList.toggle('hidden', (shape.dataset['shape'] === 'play') === playing);
    }
    const label = button?.dataset[playing ? 'labelPause' : 'labelPlay'] ?? '';
    button?.setAttribute('aria-label', label);
  }
  button.addEventListener('click', () => {
    if (!audio.paused) return audio.pause();
    for (const other of document.querySelectorAll('audio')) if (other !== audio) other.pause();
    void audio.play();
  });
  audio.addEventListener('play', () => {
    showState(true);
    paint();
  });
  audio.addEventListener('pause', () => showState(false));
  audio.addEventListener('ended', () => {
    showState(false);
    for (const word of words) word.classList.remove('opacity-0');
  });
}
