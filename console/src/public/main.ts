import { applyTheme, currentTheme } from '../app/theme.ts';
import { startPlayers } from './player.ts';
import { startWaitlistForm } from './waitlist-form.ts';

applyTheme(currentTheme());
startPlayers();
startWaitlistForm();
