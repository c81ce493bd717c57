import { expect, test } from 'vitest';
import { broken, checkedBlocks } from './blocks.ts';
import { xmlProblems } from './markup-blocks.ts';
import { pythonErrors } from './python-blocks.ts';

test('every Python block uses names, attributes and arguments that the packages have', async () => {
  const wrong = broken('python', 'from svc_asr import SvcClient\n\nSvcClient(api_token="x")\n');
  const python = checkedBlocks().filter(({ language }) => language === 'python');
  const errors = await pythonErrors([...python, wrong]);
  expect(errors.filter((error) => !error.startsWith('broken.md'))).toEqual([]);
  expect(errors.filter((error) => error.startsWith('broken.md:3'))).toHaveLength(1);
});

test('every XML block is well-formed', () => {
  const xml = checkedBlocks().filter(({ language }) => language === 'xml');
  expect(xml.length).toBeGreaterThan(0);
  expect(xml.flatMap(({ code }) => xmlProblems(code))).toEqual([]);
  expect(xmlProblems('<Start><Stream></Start>')).toHaveLength(1);
});
