/** The service in links of the Markdown. The site is part of it, so that such a link becomes a path. */
export const EXAMPLE_SERVICE = 'https://asr.example.org';

/** The repository in commands of the Markdown. A build that knows the real address shows that. */
export const EXAMPLE_REPOSITORY = 'https://git.example.org/svc-asr';
