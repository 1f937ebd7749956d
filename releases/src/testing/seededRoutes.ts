import type { Breakage } from './seededBreakages.ts';

const route = {
  name: 'stories',
  path: '/stories',
  title: '',
  requiresAuth: false,
  keepAlive: false,
  outsideShell: false,
  js: [],
  css: [],
};
const routes = (...parts: Partial<typeof route>[]) => ({ routes: parts.map((part) => ({ ...route, ...part })) });

/** Addresses that a remote must not claim. */
export const ROUTES: readonly Breakage[] = [
  {
    what: "it claims another remote's route",
    remote: routes({ path: '/chat' }),
    says: 'route /chat belongs to chat@',
  },
  {
    what: 'it claims a route by another parameter name',
    remote: routes({ path: '/s/:id' }, { name: 'b', path: '/s/:storyId' }),
    says: 'route /s/:storyId belongs to',
  },
  { what: "it claims the host's route", remote: routes({ path: '/test/list' }), says: 'belongs to the host' },
  {
    what: 'it claims a route with and without its end',
    remote: routes({ path: '/chat/:id?' }),
    says: 'belongs to chat@',
  },
  { what: "it claims the server's route", remote: routes({ path: '/channels' }), says: 'belongs to the server' },
  { what: 'it claims a file', remote: routes({ path: '/sw.js' }), says: 'looks like a file' },
  {
    what: 'its route means too many places',
    remote: routes({ path: '/a/:b?/c/:d?/e/:f?/g/:h?' }),
    says: 'optional parts',
  },
  { what: 'it claims every address', remote: routes({ path: '/*' }), says: 'catch every address' },
  { what: "it claims another remote's route name", remote: routes({ name: 'chat' }), says: 'route name "chat"' },
];
