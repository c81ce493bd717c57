import { applyTheme, currentTheme } from '../app/theme.ts';
import { startCopyButton } from './copy-code.ts';
import { startDemoButton } from './demo-button.ts';
import { startPlayers } from './player.ts';
import { startWaitlistForm } from './waitlist-form.ts';

applyTheme(currentTheme());
startPlayers();
startDemoButton();
startWaitlistForm();
startCopyButton();
