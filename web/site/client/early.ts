// A classic script that blocks the first paint, so that the page never flashes in the wrong theme. The console stores the
// same preference.
(() => {
  try {
    const theme = localStorage.getItem('theme');
    if (theme === 'light' || theme === 'dark') document.documentElement.dataset['theme'] = theme;
  } catch {
    // Storage is blocked: the system's theme stays.
  }
})();
