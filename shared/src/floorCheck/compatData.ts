import bcd from '@mdn/browser-compat-data' with { type: 'json' };
import type { CompatStatement, Identifier, SupportStatement } from '@mdn/browser-compat-data';

/** The oldest supported version of each engine, as in `shared/src/build/floor.ts`. */
export type Floor = Record<keyof typeof browsersOf, string>;

/** Browsers per engine: mobile ones and WebViews lack features of their desktop versions. */
const browsersOf = {
  chrome: ['chrome', 'chrome_android', 'webview_android', 'edge'],
  safari: ['safari', 'safari_ios'],
  firefox: ['firefox', 'firefox_android'],
} as const;

const engines = Object.keys(browsersOf) as (keyof Floor)[];

type BrowserName = (typeof browsersOf)[keyof typeof browsersOf][number];

/**
 * Built-in types with values in any code. A call on one looks like a call of a script's own method with that name. For sets,
 * buffers and iterators the own method is more likely: `.union()`, `.resize()`, `.toArray()`.
 */
const valueTypes = /^(Array|String)$/;

/** Whether version `a` is not later than `b`; `≤37` means 37 or earlier. */
function isAtMost(a: string, b: string): boolean {
  const [left, right] = [a, b].map((version) => version.replace('≤', '').split('.').map(Number));
  if (b === 'any') return true;
  for (let at = 0; at < 3; at += 1) {
    const difference = (left?.[at] ?? 0) - (right?.[at] ?? 0);
    if (difference !== 0) return difference < 0;
  }
  return true;
}

/** Statements about the feature itself, without flag, prefix or another name, in released versions. */
const plainStatements = (statements: SupportStatement) =>
  [statements]
    .flat()
    .flatMap(({ version_added: added, version_removed: removed, flags, prefix, alternative_name: renamed }) =>
      typeof added === 'string' && added !== 'preview' && !flags && !prefix && !renamed ? [{ added, removed }] : [],
    );

/** Supported without flag, prefix or another name, and not removed. Partial support counts, since its gaps are described in prose only. */
const isSupported = (statements: SupportStatement, version: string): boolean =>
  plainStatements(statements).some(
    ({ added, removed }) => isAtMost(added, version) && !(typeof removed === 'string' && isAtMost(removed, version)),
  );

/** Prefixes with which a version supports it, e.g. `-webkit-`. */
const supportedPrefixes = (statements: SupportStatement, version: string): string[] =>
  [statements]
    .flat()
    .filter(({ version_added: added, flags }) => typeof added === 'string' && isAtMost(added, version) && !flags)
    .flatMap(({ prefix }) => prefix ?? []);

type Groups = Record<string, Identifier>;

const describeFirstVersion = (statements: SupportStatement | undefined): string => {
  const [first] = statements ? plainStatements(statements) : [];
  return first ? `since ${first.added}` : 'in none yet';
};

/** Support of the floor's browsers for the features in MDN's data. */
export class CompatData {
  /** Global names, including the members of `Window`. */
  readonly globals = new Map<string, CompatStatement[]>();
  /** Constructors, which some interfaces got later than their name. */
  readonly constructors = new Map<string, CompatStatement[]>();
  /** Members by name, of any interface. */
  readonly members = new Map<string, CompatStatement[]>();
  /** Names of the methods of arrays and strings. */
  readonly builtInMethods = new Set<string>();
  readonly events = new Map<string, CompatStatement[]>();
  /** HTML attributes by name. */
  readonly attributes = new Map<string, CompatStatement[]>();
  readonly cssFunctions = new Map<string, CompatStatement[]>();
  readonly css = bcd.css;

  constructor(private readonly floor: Floor) {
    for (const [name, entry] of Object.entries(bcd.api as Groups)) {
      this.add(this.globals, name, entry);
      this.addMembers(name, entry);
    }
    for (const [name, entry] of Object.entries(bcd.javascript.builtins as Groups)) {
      // some, like Iterator, existed as a concept long before the global
      this.add(this.globals, name, entry[name]?.__compat ? entry[name] : entry);
      this.addMembers(name, entry);
      if (valueTypes.test(name)) for (const key of Object.keys(entry)) this.builtInMethods.add(key);
    }
    for (const scope of ['Window', 'WorkerGlobalScope', 'ServiceWorkerGlobalScope'])
      for (const [name, entry] of Object.entries(bcd.api[scope] ?? {})) this.add(this.globals, name, entry);
    const elements = Object.values(bcd.html.elements ?? {});
    for (const group of [bcd.html.global_attributes, ...elements])
      for (const [name, entry] of Object.entries(group ?? {})) this.add(this.attributes, name, entry);
    this.addFunctions(bcd.css.types as Identifier);
    for (const property of Object.values(bcd.css.properties as Identifier)) this.addFunctions(property as Identifier);
  }

  /** A member of an interface or a built-in object, static ones included. */
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
    // a name that no browser supports yet is probably the script's own
    if (!Object.values(statement.support).some((support) => isSupported(support, 'any'))) return;
    map.set(name, [...(map.get(name) ?? []), statement]);
  }

  private addMembers(owner: string, group: Identifier) {
    for (const [key, entry] of Object.entries(group)) {
      const event = /^(\w+)_event$/.exec(key)?.[1];
      const name = key.replace(/_static$/, '');
      if (event) this.add(this.events, event, entry);
      else if (key === owner) this.add(this.constructors, owner, entry);
      // keys with other characters describe details of a feature
      else if (/^[A-Za-z]+\d*[A-Za-z]*$/.test(name)) this.add(this.members, name, entry);
      // e.g. Intl.Segmenter.segment, Temporal.Instant.from
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
   * Returns the floor's browsers that support none of the given features, e.g. `chrome 103 (since 110)`. A feature that MDN does
   * not list counts as supported, and so does one that is also written with a browser's prefix.
   */
  browsersWithout(
    features: readonly (CompatStatement | undefined)[] | undefined,
    prefixes: readonly string[] = [],
  ): string[] {
    const supports = (features ?? []).flatMap((statement) => statement?.support ?? []);
    const isSupportedBy = (name: BrowserName, version: string) =>
      supports.some(
        ({ [name]: support }) =>
          !support ||
          isSupported(support, version) ||
          supportedPrefixes(support, version).some((prefix) => prefixes.includes(prefix)),
      );
    if (supports.length === 0) return [];
    return engines.flatMap((engine) => {
      const version = this.floor[engine];
      const lackingBrowsers = browsersOf[engine].filter((name) => !isSupportedBy(name, version));
      // no pointer lock on a phone, no touch on a Mac: a limit of the device, not of the version
      const isVersionGap = (name: BrowserName) =>
        isSupportedBy(name, 'any') || lackingBrowsers.length === browsersOf[engine].length;
      const firstMissing = lackingBrowsers.find(isVersionGap);
      return firstMissing ? [`${firstMissing} ${version} (${describeFirstVersion(supports[0]?.[firstMissing])})`] : [];
    });
  }
}
