import type { DoorContext, Handshake } from '../door.ts';
import { chooseModel, type Choice } from '../languages.ts';
import { readListenOptions, type ListenOptions } from './parameters.ts';

/** Reads what a socket or a POST asks for. Throws a refusal for anything that the service can't do. */
export function readRequest(
  { query, prefix, ignore }: Pick<Handshake, 'query' | 'prefix' | 'ignore'>,
  { config }: DoorContext,
): { readonly options: ListenOptions; readonly choice: Choice } {
  const options = readListenOptions(query);
  const asked = { model: query.get('model'), languages: query.getAll('language'), prefix };
  const choice = chooseModel(asked, config.defaultLanguage);
  for (const name of options.ignored) ignore(name);
  if (choice.ignoresLanguage) ignore('language');
  return { options, choice };
}
