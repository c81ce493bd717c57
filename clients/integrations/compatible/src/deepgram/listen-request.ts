import type { DoorContext, Handshake } from '../door.ts';
import { chooseModel, type Choice } from '../languages.ts';
import { readListenOptions, type CommonOptions, type ListenOptions } from './parameters.ts';

type Asked = Pick<Handshake, 'query' | 'prefix' | 'ignore'>;

/** Reads what a socket or a POST asks for. Throws a refusal for anything that the service can't do. */
export function readRequest(
  asked: Asked,
  context: DoorContext,
): { readonly options: ListenOptions; readonly choice: Choice } {
  return readRequestBy({ readOptions: readListenOptions, named: ['language'] }, asked, context);
}

export function readRequestBy<Options extends CommonOptions>(
  door: {
    readonly readOptions: (query: URLSearchParams) => Options;
    /** The parameters that name a language. Messages tell of the first. */
    readonly named: readonly [string, ...string[]];
  },
  { query, prefix, ignore }: Asked,
  { config }: DoorContext,
): { readonly options: Options; readonly choice: Choice } {
  const options = door.readOptions(query);
  const languages = door.named.flatMap((name) => query.getAll(name));
  const [parameter] = door.named;
  const choice = chooseModel(
    { model: query.get('model'), languages, prefix, parameter },
    config.defaultLanguage,
  );
  for (const name of options.ignored) ignore(name);
  if (choice.ignoresLanguage) ignore(door.named.find((name) => query.has(name)) ?? parameter);
  return { options, choice };
}
