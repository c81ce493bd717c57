import { expect, test } from 'vitest';
import { clientName, systemName } from './client-name.ts';

test.each([
  [
    'Mozilla/5.0 (X11; Linux) AppleWebKit/537.36 Chrome/141.0.0.0 Safari/537.36',
    'Chrome 141',
    'Linux',
  ],
  ['Mozilla/5.0 (Windows) Chrome/141.0.0.0 Safari/537.36 Edg/141.0.0.0', 'Edge 141', 'Windows'],
  [
    'Mozilla/5.0 (iPhone; CPU iPhone OS 18_3 like Mac OS X) Version/18.3 Mobile Safari/604.1',
    'Safari 18',
    'iPhone',
  ],
  ['Mozilla/5.0 (Linux; Android 15) Chrome/141.0.0.0 Safari/537.36', 'Chrome 141', 'Android'],
  ['Mozilla/5.0 (Macintosh; Intel Mac OS X 10.15) Firefox/140.0', 'Firefox 140', 'macOS'],
  ['Python/3.13 websockets/15.0', 'Python 3.13', null],
  ['node', 'node', null],
  ['Mozilla/5.0 (a device with a serial number 12345)', null, null],
  ['<script>alert(1)</script>', null, null],
  ['=cmd|calc', null, null],
  [undefined, null, null],
])('reduces the User-Agent %s to %s on %s', (agent, client, system) => {
  expect(clientName(agent)).toBe(client);
  expect(systemName(agent)).toBe(system);
});
