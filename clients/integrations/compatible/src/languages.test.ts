import { expect, test } from 'vitest';
import { chooseModel, splitPrefix, type Asked } from './languages.ts';

const NOTHING: Asked = { model: null, languages: [], prefix: null };
const KIKUYU = 'svc-asr-kikuyu-v1';
const DHOLUO = 'svc-asr-dholuo-v1';

test.each<[string, Partial<Asked>, 'ki' | 'luo' | null, string]>([
  ['our model id', { model: DHOLUO }, 'ki', DHOLUO],
  ['our model id beside the en of a framework', { model: DHOLUO, languages: ['en'] }, null, DHOLUO],
  ['a language', { model: 'nova-3', languages: ['luo'] }, 'ki', DHOLUO],
  ['a language with a region', { model: 'whisper-1', languages: ['ki-KE'] }, null, KIKUYU],
  ['the name of a language', { languages: ['Dholuo'] }, null, DHOLUO],
  ['a prefix', { model: 'whisper-1', prefix: 'luo' }, 'ki', DHOLUO],
  ['a prefix beside the en of a framework', { languages: ['en-US'], prefix: 'ki' }, null, KIKUYU],
  ['the default', { model: 'gpt-4o-transcribe' }, 'luo', DHOLUO],
  [
    'the same language three times',
    { model: KIKUYU, languages: ['ki'], prefix: 'ki' },
    null,
    KIKUYU,
  ],
  ['an empty language', { languages: [''] }, 'ki', KIKUYU],
])('%s chooses the model', (_name, asked, fallback, model) => {
  expect(chooseModel({ ...NOTHING, ...asked }, fallback).model).toBe(model);
});

test.each<[string, Partial<Asked>, 'ki' | 'luo' | null, string]>([
  ['nothing', {}, null, 'missing_language'],
  ['an alias alone', { model: 'nova-2-phonecall' }, null, 'missing_language'],
  ['another language', { languages: ['en'] }, null, 'unsupported_language'],
  [
    'another language, though there is a default',
    { languages: ['sw'] },
    'ki',
    'unsupported_language',
  ],
  [
    'our model id with our other language',
    { model: KIKUYU, languages: ['luo'] },
    null,
    'language_contradiction',
  ],
  [
    'our model id with the other prefix',
    { model: KIKUYU, prefix: 'luo' },
    null,
    'language_contradiction',
  ],
  [
    'a language with the other prefix',
    { languages: ['ki'], prefix: 'luo' },
    null,
    'language_contradiction',
  ],
  ['both languages', { languages: ['ki', 'luo'] }, null, 'language_contradiction'],
  ['an unknown model', { model: 'svc-asr-swahili-v1', languages: ['ki'] }, null, 'model_not_found'],
])('%s is refused', (_name, asked, fallback, code) => {
  expect(() => chooseModel({ ...NOTHING, ...asked }, fallback)).toThrow(
    expect.objectContaining({ code }),
  );
});

test.each([
  ['/ki/v1/listen', 'ki', '/v1/listen'],
  ['/luo/v1/models', 'luo', '/v1/models'],
  ['/v1/listen', null, '/v1/listen'],
  ['/kikuyu/v1/listen', null, '/kikuyu/v1/listen'],
  ['/ki', null, '/ki'],
  ['//', null, '//'],
])('the path %s has the prefix %s', (given, prefix, path) => {
  expect(splitPrefix(given)).toEqual({ prefix, path });
});
