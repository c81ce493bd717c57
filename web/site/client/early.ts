// A classic script that blocks the first paint, so that the page never flashes in the wrong theme and never shows the
// menu of browsers without scripts. The console stores the same preference.
(() => {
  const { documentElement } = document;
  documentElement.classList.add('with-script');
  try {
    const theme = localStorage.getItem('theme');
    if (theme === 'light' || theme === 'dark') documentElement.dataset['theme'] = theme;
  } catch {
    // Storage is blocked: the system's theme stays.
  }
})();
