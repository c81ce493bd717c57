import { createServer } from 'node:http';

/** A server with the mistake that the campaign looks for: it tries every run of slashes again from each of its slashes. */
const server = createServer((request, response) => {
  // oxlint-disable-next-line svc/linear-expression -- planted
  response.end((request.url ?? '').replace(/\/+$/, ''));
});
server.listen(0, '127.0.0.1', () => console.log(JSON.stringify(server.address())));
