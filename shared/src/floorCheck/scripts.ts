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
const parserOptions: Options = { ecmaVersion: 2022, sourceType: 'script', ranges: true };

const interfaceOfGlobal: Record<string, string> = {
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

const literalText = (node: estree.Node | null | undefined): string | null =>
  node?.type === 'Literal' && typeof node.value === 'string' ? node.value : null;

const keyName = (key: estree.Node, computed: boolean): string | null =>
  !computed && key.type === 'Identifier' ? key.name : literalText(key);

/** Properties of an object in the source, by name. */
function namedProperties(node: estree.Node | undefined) {
  const properties = node?.type === 'ObjectExpression' ? node.properties : [];
  return properties.flatMap((property) => {
    const name = property.type === 'Property' ? keyName(property.key, property.computed) : null;
    return name && property.type === 'Property' ? [{ name, property }] : [];
  });
}

/** Name of the accessed member, for `a.b` and `a['b']` alike. */
const memberName = ({ property, computed }: estree.MemberExpression) => keyName(property, computed);

/** Parses a script as ES2022; returns the syntax that the floor cannot parse otherwise. */
export function parseScript(text: string): Node | Use {
  try {
    return parse(text, parserOptions);
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause;
    const { pos = 0 } = cause as SyntaxError & { pos?: number };
    return { feature: 'syntax', lacking: `newer than ES2022 (${cause.message})`, at: pos };
  }
}

/** Acorn's nodes are ESTree nodes with other types. */
const toEstree = (node: Node) => node as unknown as estree.Node;

/** Names of methods and properties that a script defines on its own objects. */
export function collectDefinedNames(ast: Node): Set<string> {
  const names = new Set<string>();
  full(ast, (acornNode) => {
    const node = toEstree(acornNode);
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
    private readonly definedNames: ReadonlySet<string>,
    private readonly data: CompatData,
  ) {
    const { globalScope } = analyze(toEstree(ast) as estree.Program, { ecmaVersion: 2022, sourceType: 'script' });
    for (const { identifier } of globalScope?.through ?? []) this.unresolved.add(identifier as estree.Identifier);
  }

  check(): Use[] {
    fullAncestor(this.ast, (acornNode, _, ancestors) => {
      const node = toEstree(acornNode);
      const [parent] = ancestors.slice(-2, -1).map(toEstree);
      if (node.type === 'Identifier') this.checkIdentifier(node, parent);
      if (node.type === 'MemberExpression') this.checkMember(node, parent);
      if (node.type === 'NewExpression') this.checkConstructor(node.callee);
      if ('superClass' in node && node.superClass) this.checkConstructor(node.superClass);
      if (node.type === 'CallExpression') {
        this.checkListener(node);
        this.checkElement(node);
      }
    });
    return this.uses;
  }

  private report(feature: string, node: estree.Node, statements: Parameters<CompatData['browsersWithout']>[0]) {
    const lacking = this.data.browsersWithout(statements);
    if (lacking.length > 0) this.uses.push({ feature, lacking: lacking.join(', '), at: node.range?.[0] ?? 0 });
  }

  /** Reading a missing name throws, except in `typeof`. */
  private checkIdentifier(node: estree.Identifier, parent: estree.Node | undefined) {
    if (!this.unresolved.has(node)) return;
    if (parent?.type === 'UnaryExpression' && parent.operator === 'typeof') return;
    this.report(node.name, node, this.data.globals.get(node.name));
  }

  /** Name of the global that a node refers to, for `window.URL` as well as `URL`. */
  private globalName(node: estree.Node): string | null {
    if (node.type === 'Identifier') return this.unresolved.has(node) ? node.name : null;
    if (node.type !== 'MemberExpression') return null;
    const ownerName = this.globalName(node.object);
    return ownerName && globalObjects.has(ownerName) ? memberName(node) : null;
  }

  /**
   * Checks a member that is called or accessed further; a missing member alone is just `undefined`. For a known global object its
   * own member counts; otherwise a method is reported if no type of the floor has one of that name.
   */
  private checkMember(node: estree.MemberExpression, parent: estree.Node | undefined) {
    const name = memberName(node);
    if (name && node.object.type === 'MemberExpression' && memberName(node.object) === 'style')
      return this.checkStyle(name, node);
    const isCalled = (parent?.type === 'CallExpression' || parent?.type === 'NewExpression') && parent.callee === node;
    const isDereferenced = parent?.type === 'MemberExpression' && parent.object === node;
    if (!name || !(isCalled || isDereferenced)) return;
    const owner = this.globalName(node.object);
    const memberText = `${name}${isCalled ? '()' : ''}`;
    if (owner && globalObjects.has(owner)) return this.report(memberText, node, this.data.globals.get(name));
    const ownMember = owner && this.data.memberOf(interfaceOfGlobal[owner] ?? owner, name);
    if (ownMember) return this.report(`${owner}.${memberText}`, node, [ownMember]);
    if (isCalled && (this.data.builtInMethods.has(name) || !this.definedNames.has(name)))
      this.report(`.${memberText}`, node, this.data.members.get(name));
  }

  private checkConstructor(callee: estree.Node) {
    const name = this.globalName(callee);
    // a missing name is reported as a global
    if (name && this.data.browsersWithout(this.data.globals.get(name)).length === 0)
      this.report(`new ${name}()`, callee, this.data.constructors.get(name));
  }

  /** `x.addEventListener('scrollend', …)` */
  private checkListener({ callee, arguments: [first] }: estree.CallExpression) {
    if (callee.type !== 'MemberExpression' || memberName(callee) !== 'addEventListener') return;
    const event = literalText(first);
    if (event) this.report(`event ${event}`, callee.property, this.data.events.get(event));
  }

  /** Attributes of `jsx('div', { popover: 'auto' })`, the output of JSX compilers. */
  private checkElement({ callee, arguments: [tag, props] }: estree.CallExpression) {
    const calledFunction = callee.type === 'SequenceExpression' ? callee.expressions.at(-1) : callee;
    const element = literalText(tag);
    const isJsx =
      calledFunction?.type === 'MemberExpression' && /^(jsxs?|createElement)$/.test(memberName(calledFunction) ?? '');
    if (!isJsx || !element) return;
    for (const { name, property } of namedProperties(props)) {
      const attribute = name.toLowerCase();
      // `style: { translate: … }`
      if (name === 'style')
        for (const style of namedProperties(property.value)) this.checkStyle(style.name, style.property);
      else this.report(`<${element} ${attribute}>`, property, this.data.attributes.get(attribute));
    }
  }

  /** `element.style.translate` */
  private checkStyle(name: string, node: estree.Node) {
    const property = name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    this.report(`style.${name}`, node, [this.data.cssProperty(property)]);
  }
}

/** Returns all uses in a classic script that the floor lacks. `definedNames` are names that the build's scripts define on their own objects. */
export const findScriptUses = (ast: Node, definedNames: ReadonlySet<string>, data: CompatData): Use[] =>
  new Script(ast, definedNames, data).check();
