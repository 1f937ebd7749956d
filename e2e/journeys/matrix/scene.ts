import type { BrowserContext, Page } from '@playwright/test';
import type { Site } from '../../federation/site/site.ts';
import type { Person } from '../../person.ts';
import type { RunningBackend } from '../../product.ts';
import type { SlowLink } from '../../slowLink.ts';

/** Where a case of the fault matrix takes place. */
export interface Scene {
  site: Site;
  /** what the page is reached by */
  link: SlowLink;
  backend: RunningBackend;
  /** two builds of one remote; the sets differ in nothing else */
  editions: readonly [string, string];
  person: Person;
  page: Page;
  context: BrowserContext;
}
