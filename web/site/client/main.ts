import { startContents } from './contents.ts';
import { startCopyButtons } from './copy.ts';
import { startOwnAddress } from './own-address.ts';
import { startMenu } from './menu.ts';
import { startSearchButton } from './search-button.ts';
import { startTabs } from './tabs.ts';
import { startThemeButton } from './theme.ts';

startThemeButton();
startOwnAddress();
startMenu();
startTabs();
startCopyButtons();
startContents();
startSearchButton();
if (document.querySelector('[data-status-list]') !== null) {
  void import('./status.ts').then(({ startStatus }) => startStatus());
}
