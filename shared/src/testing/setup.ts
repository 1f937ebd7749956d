import { afterAll, afterEach, beforeEach } from '@rstest/core';
import { cleanup, configure } from '@testing-library/react';
import { prepareClient } from '../runtime/client/request';
import { forgetHostConfig } from '../runtime/hostConfig';
import { refuseNetwork } from './fakeApi';
import { lowerToFloor } from './floor';
import { resetRuntime } from './reset';
import { countRunningTime } from './runningTime';

// in a VM context `DOMException` belongs to Node's realm; in a browser it extends `Error`
Object.setPrototypeOf(DOMException.prototype, Error.prototype);
countRunningTime();
lowerToFloor();
refuseNetwork();
// loads the client as after an earlier request; only its own tests cover the loading
await prepareClient();
// generous, since a busy machine may be slow; tests check results, not speed
configure({ asyncUtilTimeout: 30_000 });

// all files of a thread share happy-dom's classes, so changes to them must be reverted
const elementClasses = Object.getOwnPropertyNames(globalThis)
  .map((name) => Reflect.get(globalThis, name)?.prototype)
  .filter((prototype) => prototype === Node.prototype || prototype instanceof Node)
  .map((prototype: object) => ({ prototype, descriptors: Object.getOwnPropertyDescriptors(prototype) }));
afterAll(() => {
  for (const { prototype, descriptors } of elementClasses) {
    for (const name of Reflect.ownKeys(prototype)) if (!(name in descriptors)) Reflect.deleteProperty(prototype, name);
    Object.defineProperties(prototype, descriptors);
  }
});

let unexpectedErrors: string[] = [];
const { error } = console;

// Collected and thrown after the test: throwing inside `console.error` would end the whole run.
console.error = (...parts: unknown[]) => {
  unexpectedErrors.push(parts.map(String).join(' '));
  error(...parts);
};

beforeEach(() => {
  unexpectedErrors = [];
  // the runtime's modules read the settings when they load
  forgetHostConfig();
  // a page with the token of an earlier response
  Reflect.set(document, 'cookie', 'XSRF-TOKEN=test');
});

afterEach(async () => {
  cleanup();
  await resetRuntime();
  if (unexpectedErrors.length > 0) throw new Error(`console.error was called: ${unexpectedErrors.join('\n')}`);
});
