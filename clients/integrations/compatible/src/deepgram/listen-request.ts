import type { DoorContext, Handshake } from '../door.ts';
import { chooseModel, type Choice } from '../languages.ts';
import { readListenOptions, type CommonOptions, type ListenOptions } from './parameters.ts';

type Asked = Pick<Handshake, 'query' | 'prefix' | 'ignore'>;

/** Reads what a socket or a POST asks for. Throws a refusal for anything that the service can't do. */
export function readRequest(
  asked: Asked,
  context: DoorContext,
): { readonly options: ListenOptions; readonly choice: Choice } {
  return readRequestBy(readListenOptions, asked, context);
}

export function readRequestBy<Options extends CommonOptions>(
  readOptions: (query: URLSearchParams) => Options,
  { query, prefix, ignore }: Asked,
  { config }: DoorContext,
): { readonly options: Options; readonly choice: Choice } {
  const options = readOptions(query);
  const languages = [...query.getAll('language'), ...query.getAll('language_hint')];
  const choice = chooseModel(
    { model: query.get('model'), languages, prefix },
    config.defaultLanguage,
  );
  for (const name of options.ignored) ignore(name);
  if (choice.ignoresLanguage) ignore(query.has('language') ? 'language' : 'language_hint');
  return { options, choice };
}
