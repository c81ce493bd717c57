export * from './constants.ts';
export * from './errors.ts';
export * from './events.ts';
export * from './keyterms.ts';
export * from './messages.ts';
export * from './models.ts';
export * from './sessions.ts';
export * from './usage.ts';
