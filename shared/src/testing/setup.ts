import { afterAll, afterEach, beforeEach } from '@rstest/core';
import { cleanup, configure } from '@testing-library/react';
import { prepareClient } from '../runtime/client/request';
import { forgetHostConfig } from '../runtime/hostConfig';
import { refuseNetwork } from './fakeApi';
import { lowerToFloor } from './floor';
import { resetRuntime } from './reset';
import { countRunningTime } from './runningTime';

// of Node's own realm where the tests run in a VM context of theirs; in a page it is an Error
Object.setPrototypeOf(DOMException.prototype, Error.prototype);
countRunningTime();
lowerToFloor();
refuseNetwork();
// a page that has asked before; how the client's file comes is no test's concern but its own
await prepareClient();
// a busy machine takes its time over a page's code; a test says what is to come, not how soon
configure({ asyncUtilTimeout: 30_000 });

// happy-dom's classes are the same for all files of a thread: what a file puts on them must not reach the next one
const elementClasses = Object.getOwnPropertyNames(globalThis)
  .map((name) => Reflect.get(globalThis, name)?.prototype)
  .filter((prototype) => prototype === Node.prototype || prototype instanceof Node)
  .map((prototype: object) => ({ prototype, own: Object.getOwnPropertyDescriptors(prototype) }));
afterAll(() => {
  for (const { prototype, own } of elementClasses) {
    for (const name of Reflect.ownKeys(prototype)) if (!(name in own)) Reflect.deleteProperty(prototype, name);
    Object.defineProperties(prototype, own);
  }
});

let unexpected: string[] = [];
const { error } = console;

// Collected and told after the test: throwing inside console.error would end the whole run.
console.error = (...parts: unknown[]) => {
  unexpected.push(parts.map(String).join(' '));
  error(...parts);
};

beforeEach(() => {
  unexpected = [];
  // the modules of the runtime read it when they load
  forgetHostConfig();
  // a page that has talked to the server before
  Reflect.set(document, 'cookie', 'XSRF-TOKEN=test');
});

afterEach(async () => {
  cleanup();
  await resetRuntime();
  if (unexpected.length > 0) throw new Error(`console.error was called: ${unexpected.join('\n')}`);
});
