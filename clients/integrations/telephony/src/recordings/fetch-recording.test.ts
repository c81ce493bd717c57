import { expect, test } from 'vitest';
import { isAllowedUrl, isPublicAddress } from './fetch-recording.ts';

const HOSTS = { from: ['voice.example.org'], fromPrivate: ['PBX.example.org:8443'] };

test.each([
  ['https://voice.example.org/a.mp3', true],
  ['https://voice.example.org:443/a.mp3', true],
  ['https://VOICE.example.org/a.mp3', true],
  ['https://pbx.example.org:8443/a.mp3', true],
  ['https://pbx.example.org/a.mp3', false],
  ['http://voice.example.org/a.mp3', false],
  ['https://voice.example.org:8443/a.mp3', false],
  ['https://voice.example.org.evil.example/a.mp3', false],
  ['https://voice.example.org@evil.example/a.mp3', false],
  ['https://user:password@voice.example.org/a.mp3', false],
  ['file:///etc/passwd', false],
])('%s may be fetched: %s', (url, isAllowed) => {
  expect(isAllowedUrl(new URL(url), HOSTS)).toBe(isAllowed);
});

test.each([
  ['196.201.214.10', true],
  ['2c0f:fe38::1', true],
  ['0.0.0.0', false],
  ['10.1.2.3', false],
  ['100.64.0.1', false],
  ['127.0.0.1', false],
  ['169.254.169.254', false],
  ['172.31.0.1', false],
  ['192.168.1.1', false],
  ['255.255.255.255', false],
  ['::', false],
  ['::1', false],
  ['::ffff:127.0.0.1', false],
  ['64:ff9b::7f00:1', false],
  ['2002:7f00:1::', false],
  ['fd00::1', false],
  ['fe80::1', false],
  ['ff02::1', false],
])('%s is public: %s', (address, isPublic) => {
  expect(isPublicAddress(address)).toBe(isPublic);
});
