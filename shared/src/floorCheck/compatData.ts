import bcd from '@mdn/browser-compat-data' with { type: 'json' };
import type { CompatStatement, Identifier, SupportStatement } from '@mdn/browser-compat-data';

/** The oldest supported version of each engine, as in `shared/src/build/floor.ts`. */
export interface Floor {
  chrome: string;
  safari: string;
  firefox: string;
}

/** Browsers of one engine: phones and WebViews lack things that their desktop twins have. */
const browsersOf = {
  chrome: ['chrome', 'chrome_android', 'webview_android', 'edge'],
  safari: ['safari', 'safari_ios'],
  firefox: ['firefox', 'firefox_android'],
} as const;

const engines = Object.keys(browsersOf) as (keyof Floor)[];

type BrowserName = (typeof browsersOf)[keyof typeof browsersOf][number];

/**
 * Built-in objects whose values stand in any code. A call on one cannot be told from a call on an object of the script's own that has
 * a method of that name. Of sets, buffers and iterators the script's own method is likelier: `.union()`, `.resize()`, `.toArray()`.
 */
const valueTypes = /^(Array|String)$/;

/** Whether version `a` came out with or before `b`; `≤37` means "37 at the latest". */
function isAtMost(a: string, b: string): boolean {
  const [left, right] = [a, b].map((version) => version.replace('≤', '').split('.').map(Number));
  if (b === 'any') return true;
  for (let at = 0; at < 3; at += 1) {
    const difference = (left?.[at] ?? 0) - (right?.[at] ?? 0);
    if (difference !== 0) return difference < 0;
  }
  return true;
}

/** Without a flag, a prefix or another name, and not taken out again. A partial implementation counts: its gaps are notes in words. */
const has = (statements: SupportStatement, version: string): boolean =>
  [statements]
    .flat()
    .some(
      ({ version_added: added, version_removed: removed, flags, prefix, alternative_name: renamed }) =>
        typeof added === 'string' &&
        added !== 'preview' &&
        isAtMost(added, version) &&
        !flags &&
        !prefix &&
        !renamed &&
        !(typeof removed === 'string' && isAtMost(removed, version)),
    );

/** The prefix by which a version has it, e.g. `-webkit-`. */
const prefixesIn = (statements: SupportStatement, version: string): string[] =>
  [statements]
    .flat()
    .filter(({ version_added: added, flags }) => typeof added === 'string' && isAtMost(added, version) && !flags)
    .flatMap(({ prefix }) => prefix ?? []);

type Groups = Record<string, Identifier>;

const firstWith = (statements: SupportStatement | undefined): string => {
  const added = [statements ?? []]
    .flat()
    .filter(({ flags, prefix, alternative_name: renamed }) => !flags && !prefix && !renamed)
    .map(({ version_added: version }) => version)
    .find((version) => typeof version === 'string' && version !== 'preview');
  return added ? `since ${added}` : 'in none yet';
};

/** What the floor has of the things that MDN's data names. */
export class CompatData {
  /** Global names, `Window`'s members among them. */
  readonly globals = new Map<string, CompatStatement[]>();
  /** What `new` and `extends` take, which some interfaces got later than their name. */
  readonly constructors = new Map<string, CompatStatement[]>();
  /** Members by name alone, of any object. */
  readonly members = new Map<string, CompatStatement[]>();
  /** Names of methods of arrays and strings. */
  readonly builtInMethods = new Set<string>();
  /** Events by name alone. */
  readonly events = new Map<string, CompatStatement[]>();
  /** HTML attributes by name alone. */
  readonly attributes = new Map<string, CompatStatement[]>();
  /** CSS functions by name. */
  readonly cssFunctions = new Map<string, CompatStatement[]>();
  readonly css = bcd.css;

  constructor(private readonly floor: Floor) {
    for (const [name, entry] of Object.entries(bcd.api as Groups)) {
      this.add(this.globals, name, entry);
      this.addMembers(name, entry);
    }
    for (const [name, entry] of Object.entries(bcd.javascript.builtins as Groups)) {
      // some, like Iterator, were a concept long before the name existed
      this.add(this.globals, name, entry[name]?.__compat ? entry[name] : entry);
      this.addMembers(name, entry);
      if (valueTypes.test(name)) for (const key of Object.keys(entry)) this.builtInMethods.add(key);
    }
    for (const [name, entry] of Object.entries(bcd.api.Window ?? {})) this.add(this.globals, name, entry);
    for (const scope of ['WorkerGlobalScope', 'ServiceWorkerGlobalScope'])
      for (const [name, entry] of Object.entries(bcd.api[scope] ?? {})) this.add(this.globals, name, entry);
    const elements = Object.values(bcd.html.elements ?? {});
    for (const group of [bcd.html.global_attributes, ...elements])
      for (const [name, entry] of Object.entries(group ?? {})) this.add(this.attributes, name, entry);
    this.addFunctions(bcd.css.types as Identifier);
    for (const property of Object.values(bcd.css.properties as Identifier)) this.addFunctions(property as Identifier);
  }

  /** A member of an interface or a built-in object, its static ones too. */
  memberOf(owner: string, name: string): CompatStatement | undefined {
    const group = bcd.api[owner] ?? bcd.javascript.builtins?.[owner];
    return (group?.[`${name}_static`] ?? group?.[name])?.__compat;
  }

  cssProperty(name: string): CompatStatement | undefined {
    return (bcd.css.properties as Identifier)[name]?.__compat;
  }

  private add(map: Map<string, CompatStatement[]>, name: string, entry: unknown) {
    const { __compat: statement } = (entry ?? {}) as Identifier;
    if (name === '__compat' || !statement || statement.status?.standard_track === false) return;
    // what no browser has yet is no reason to think that somebody means it
    if (!Object.values(statement.support).some((support) => has(support, 'any'))) return;
    map.set(name, [...(map.get(name) ?? []), statement]);
  }

  private addMembers(owner: string, group: Identifier) {
    for (const [key, entry] of Object.entries(group)) {
      const event = /^(\w+)_event$/.exec(key)?.[1];
      const name = key.replace(/_static$/, '');
      if (event) this.add(this.events, event, entry);
      else if (key === owner) this.add(this.constructors, owner, entry);
      // other keys with a mark are details of something else
      else if (/^[A-Za-z]+\d*[A-Za-z]*$/.test(name)) this.add(this.members, name, entry);
      // Intl.Segmenter.segment, Temporal.Instant.from
      if (/^(Intl|Temporal)$/.test(owner) && key !== '__compat') this.addMembers(key, entry as Identifier);
    }
  }

  private addFunctions(group: Identifier) {
    for (const [key, entry] of Object.entries(group)) {
      if (key === '__compat') continue;
      this.add(this.cssFunctions, key.replace(/_function$/, ''), entry);
      this.addFunctions(entry as Identifier);
    }
  }

  /**
   * Browsers of the floor that have none of the things meant, e.g. `chrome 103 (since 110)`. What MDN does not list
   * counts as there; so does what is written with a browser's prefix as well.
   */
  lacking(meant: readonly (CompatStatement | undefined)[] | undefined, prefixes: readonly string[] = []): string[] {
    const supports = (meant ?? []).flatMap((statement) => statement?.support ?? []);
    const isThere = (name: BrowserName, version: string) =>
      supports.some(
        ({ [name]: support }) =>
          !support || has(support, version) || prefixesIn(support, version).some((prefix) => prefixes.includes(prefix)),
      );
    if (supports.length === 0) return [];
    return engines.flatMap((engine) => {
      const version = this.floor[engine];
      const without = browsersOf[engine].filter((name) => !isThere(name, version));
      // a phone without a pointer lock, a Mac without touch: that is the device's doing, not the version's
      const isOfAge = (name: BrowserName) => isThere(name, 'any') || without.length === browsersOf[engine].length;
      const missing = without.find(isOfAge);
      return missing ? [`${missing} ${version} (${firstWith(supports[0]?.[missing])})`] : [];
    });
  }
}
