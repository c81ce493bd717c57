import { expect, test } from 'vitest';
import { isLocalUrl, isSafeDatabaseUrl } from './require-tls.ts';

test('only loopback addresses and socket files count as local', () => {
  const local = ['127.0.0.1', '127.8.0.1:5432', 'localhost', '[::1]:5432', ''];
  const remote = ['db', '10.0.0.1', '127.0.0.1.example.com', '0.0.0.0', 'localhost.example.com'];
  expect(local.filter((host) => !isLocalUrl(`postgres://${host}/svc`))).toEqual([]);
  expect(remote.filter((host) => isLocalUrl(`postgres://${host}/svc`))).toEqual([]);
});

test('a database on another machine needs an sslmode that encrypts', () => {
  expect(isSafeDatabaseUrl('postgres://u@db.example/svc?sslmode=verify-full')).toBe(true);
  for (const query of ['', '?sslmode=disable', '?sslmode=prefer', '?ssl=1']) {
    expect(isSafeDatabaseUrl(`postgres://u@db.example/svc${query}`), query).toBe(false);
  }
});

test('the host parameter counts, because the driver prefers it to the host of the URL', () => {
  const url = 'postgres:///svc?user=u&password=p&host=';
  expect(isLocalUrl(`${url}/run/postgresql`)).toBe(true);
  expect(isLocalUrl(`${url}db.example`)).toBe(false);
  expect(isLocalUrl(`postgres://localhost/svc?host=db.example`)).toBe(false);
  expect(isSafeDatabaseUrl(`${url}db.example`)).toBe(false);
});
