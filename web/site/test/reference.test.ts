import { asyncApiDocument } from '@svc-asr/protocol/documents/asyncapi.ts';
import { openApiDocument } from '@svc-asr/protocol/documents/openapi.ts';
import { STREAM_ERRORS } from '@svc-asr/protocol/events.ts';
import { expect, test } from 'vitest';
import { httpPage } from '../src/reference/http-page.ts';
import { ENDPOINTING, FAILURE, SESSION } from '../src/reference/sequences.ts';
import { streamPage } from '../src/reference/stream-page.ts';

const messages = Object.keys(asyncApiDocument().components.messages);

test('the stream reference has a section with an example for every message and event', () => {
  const page = streamPage();
  const [, described = ''] = /^## Messages you send$([\s\S]*)^## Turns$/m.exec(page) ?? [];
  const sections = described
    .split(/^### /m)
    .slice(1)
    .map((text) => text.split(/^## /m)[0] ?? '');
  const names = sections.map((section) => section.split('\n')[0]);
  expect(names).toEqual(messages);
  for (const section of sections.filter((one) => !one.startsWith('audio'))) {
    expect(section).toContain('<!-- fields -->');
    expect(section).toContain('```json');
  }
});

test('the stream reference lists every error code', () => {
  const page = streamPage();
  for (const code of Object.keys(STREAM_ERRORS)) expect(page).toContain(`\`${code}\` |`);
});

test('the HTTP reference begins with the address and the authentication', () => {
  const [, address, authentication] = httpPage().split('\n\n');
  expect(address).toContain('https://asr.example.org');
  expect(authentication).toContain('Authorization: Bearer');
});

test('the HTTP reference has a section for every endpoint', () => {
  const page = httpPage();
  for (const [path, methods] of Object.entries(openApiDocument().paths)) {
    for (const method of Object.keys(methods)) {
      expect(page).toContain(`\`${method.toUpperCase()} ${path}\``);
    }
  }
});

test('the sequence diagrams name only messages and events that exist', () => {
  const others = /^(POST|201|101|WebSocket|close|the|asks)/;
  const used = [SESSION, ENDPOINTING, FAILURE]
    .flatMap(({ steps }) => steps)
    .flatMap((step) => ('band' in step ? [] : [step.text.split(' ')[0] ?? '']))
    .filter((name) => !others.test(name));
  expect(used.length).toBeGreaterThan(10);
  expect(used.filter((name) => !messages.includes(name))).toEqual([]);
});
