import type { BrowserContext, Page } from '@playwright/test';
import type { Site } from '../../federation/site/site.ts';
import type { Person } from '../../person.ts';
import type { RunningBackend } from '../../product.ts';
import type { SlowLink } from '../../slowLink.ts';

/** Setup of one case of the fault matrix. */
export interface Scene {
  site: Site;
  /** proxy through which the page is loaded */
  link: SlowLink;
  backend: RunningBackend;
  /** two builds of one remote; otherwise the sets are equal */
  editions: readonly [string, string];
  person: Person;
  page: Page;
  context: BrowserContext;
}
