import { type Node, type Options, parse } from 'acorn';
import { full, fullAncestor } from 'acorn-walk';
import { analyze } from 'eslint-scope';
import type * as estree from 'estree';
import type { CompatData } from './compatData.ts';

/** A use of a feature that a browser of the floor lacks. */
export interface Use {
  /** e.g. `URL.canParse()`, `.toSpliced()`, `@container`, `height: 100dvh` */
  feature: string;
  /** browsers without it and the versions that added it; for syntax the parser's message */
  lacking: string;
  /** offset in the text */
  at: number;
}

/** The floor runs all of ES2022; later syntax (regular expressions with `v`, `using`, …) is not supported. */
const syntax: Options = { ecmaVersion: 2022, sourceType: 'script', ranges: true };

/** Interfaces of global objects. */
const instances: Record<string, string> = {
  caches: 'CacheStorage',
  crypto: 'Crypto',
  customElements: 'CustomElementRegistry',
  document: 'Document',
  history: 'History',
  indexedDB: 'IDBFactory',
  localStorage: 'Storage',
  location: 'Location',
  navigator: 'Navigator',
  performance: 'Performance',
  screen: 'Screen',
  sessionStorage: 'Storage',
  visualViewport: 'VisualViewport',
};
const globalObjects = new Set(['window', 'self', 'globalThis', 'top', 'parent']);

const textOf = (node: estree.Node | null | undefined): string | null =>
  node?.type === 'Literal' && typeof node.value === 'string' ? node.value : null;

const keyName = (key: estree.Node, computed: boolean): string | null =>
  !computed && key.type === 'Identifier' ? key.name : textOf(key);

/** Name of the accessed member, for `a.b` and `a['b']` alike. */
const memberName = ({ property, computed }: estree.MemberExpression) => keyName(property, computed);

/** Parses a script as ES2022; returns the syntax that the floor cannot parse otherwise. */
export function parseScript(text: string): Node | Use {
  try {
    return parse(text, syntax);
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause;
    const { pos = 0 } = cause as SyntaxError & { pos?: number };
    return { feature: 'syntax', lacking: `newer than ES2022 (${cause.message})`, at: pos };
  }
}

/** Acorn's nodes are ESTree nodes with other types. */
const estreeOf = (node: Node) => node as unknown as estree.Node;

/** Names of methods and properties that a script defines on its own objects. */
export function ownNames(ast: Node): Set<string> {
  const names = new Set<string>();
  full(ast, (found) => {
    const node = estreeOf(found);
    let name: string | null = null;
    if (node.type === 'Property' || node.type === 'MethodDefinition' || node.type === 'PropertyDefinition')
      name = keyName(node.key, node.computed);
    if (node.type === 'AssignmentExpression' && node.left.type === 'MemberExpression') name = memberName(node.left);
    if (name) names.add(name);
  });
  return names;
}

class Script {
  readonly uses: Use[] = [];
  private readonly unresolved = new Set<estree.Node>();

  constructor(
    private readonly ast: Node,
    private readonly own: ReadonlySet<string>,
    private readonly data: CompatData,
  ) {
    const { globalScope } = analyze(estreeOf(ast) as estree.Program, { ecmaVersion: 2022, sourceType: 'script' });
    for (const { identifier } of globalScope?.through ?? []) this.unresolved.add(identifier as estree.Identifier);
  }

  check(): Use[] {
    fullAncestor(this.ast, (found, _, ancestors) => {
      const node = estreeOf(found);
      const [parent] = ancestors.slice(-2, -1).map(estreeOf);
      if (node.type === 'Identifier') this.identifier(node, parent);
      if (node.type === 'MemberExpression') this.member(node, parent);
      if (node.type === 'NewExpression') this.constructed(node.callee);
      if ((node.type === 'ClassExpression' || node.type === 'ClassDeclaration') && node.superClass)
        this.constructed(node.superClass);
      if (node.type === 'CallExpression') {
        this.listener(node);
        this.element(node);
      }
    });
    return this.uses;
  }

  private report(feature: string, node: estree.Node, statements: Parameters<CompatData['lacking']>[0]) {
    const lacking = this.data.lacking(statements);
    if (lacking.length > 0) this.uses.push({ feature, lacking: lacking.join(', '), at: node.range?.[0] ?? 0 });
  }

  /** Reading a missing name throws, except in `typeof`. */
  private identifier(node: estree.Identifier, parent: estree.Node | undefined) {
    if (!this.unresolved.has(node)) return;
    if (parent?.type === 'UnaryExpression' && parent.operator === 'typeof') return;
    this.report(node.name, node, this.data.globals.get(node.name));
  }

  /** Name of the global that a node refers to, for `window.URL` as well as `URL`. */
  private globalName(node: estree.Node): string | null {
    if (node.type === 'Identifier') return this.unresolved.has(node) ? node.name : null;
    if (node.type !== 'MemberExpression') return null;
    const holder = this.globalName(node.object);
    return holder && globalObjects.has(holder) ? memberName(node) : null;
  }

  /**
   * Checks a member that is called or accessed further; a missing member alone is just `undefined`. For a known global object its
   * own member counts; otherwise a method is reported if no type of the floor has one of that name.
   */
  private member(node: estree.MemberExpression, parent: estree.Node | undefined) {
    const name = memberName(node);
    if (name && node.object.type === 'MemberExpression' && memberName(node.object) === 'style')
      return this.style(name, node);
    const isCalled = (parent?.type === 'CallExpression' || parent?.type === 'NewExpression') && parent.callee === node;
    const isOpened = parent?.type === 'MemberExpression' && parent.object === node;
    if (!name || !(isCalled || isOpened)) return;
    const owner = this.globalName(node.object);
    const shown = `${name}${isCalled ? '()' : ''}`;
    if (owner && globalObjects.has(owner)) return this.report(shown, node, this.data.globals.get(name));
    const ownMember = owner && this.data.memberOf(instances[owner] ?? owner, name);
    if (ownMember) return this.report(`${owner}.${shown}`, node, [ownMember]);
    if (isCalled && (this.data.builtInMethods.has(name) || !this.own.has(name)))
      this.report(`.${shown}`, node, this.data.members.get(name));
  }

  private constructed(callee: estree.Node) {
    const name = this.globalName(callee);
    // a missing name is reported as a global
    if (name && this.data.lacking(this.data.globals.get(name)).length === 0)
      this.report(`new ${name}()`, callee, this.data.constructors.get(name));
  }

  /** `x.addEventListener('scrollend', …)` */
  private listener({ callee, arguments: [first] }: estree.CallExpression) {
    if (callee.type !== 'MemberExpression' || memberName(callee) !== 'addEventListener') return;
    const event = textOf(first);
    if (event) this.report(`event ${event}`, callee.property, this.data.events.get(event));
  }

  /** Attributes of `jsx('div', { popover: 'auto' })`, the output of JSX compilers. */
  private element({ callee, arguments: [tag, props] }: estree.CallExpression) {
    const called = callee.type === 'SequenceExpression' ? callee.expressions.at(-1) : callee;
    const element = textOf(tag);
    const isJsx = called?.type === 'MemberExpression' && /^(jsxs?|createElement)$/.test(memberName(called) ?? '');
    if (!isJsx || !element || props?.type !== 'ObjectExpression') return;
    for (const property of props.properties) {
      const name = property.type === 'Property' ? keyName(property.key, property.computed) : null;
      if (!name || property.type !== 'Property') continue;
      const attribute = name.toLowerCase();
      if (name === 'style') this.styles(property.value);
      else this.report(`<${element} ${attribute}>`, property, this.data.attributes.get(attribute));
    }
  }

  /** `style: { translate: … }` */
  private styles(value: estree.Node) {
    if (value.type !== 'ObjectExpression') return;
    for (const property of value.properties) {
      const name = property.type === 'Property' ? keyName(property.key, property.computed) : null;
      if (name) this.style(name, property);
    }
  }

  /** `element.style.translate` */
  private style(name: string, node: estree.Node) {
    const property = name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    this.report(`style.${name}`, node, [this.data.cssProperty(property)]);
  }
}

/** Returns all uses in a classic script that the floor lacks. `own` are names that the build's scripts define on their own objects. */
export const usesOfScript = (ast: Node, own: ReadonlySet<string>, data: CompatData): Use[] =>
  new Script(ast, own, data).check();
