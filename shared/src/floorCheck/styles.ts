import type { CompatStatement, Identifier } from '@mdn/browser-compat-data';
import { type Atrule, type CssNode, type Declaration, find, type List, parse, type Value, walk } from 'css-tree';
import type { CompatData } from './compatData.ts';
import type { Use } from './scripts.ts';

/** Length units that MDN lists in groups. */
const unitGroups: [units: RegExp, group: string][] = [
  [/^d(vh|vw|vmin|vmax|vi|vb)$/, 'viewport_percentage_units_dynamic'],
  [/^s(vh|vw|vmin|vmax|vi|vb)$/, 'viewport_percentage_units_small'],
  [/^l(vh|vw|vmin|vmax|vi|vb)$/, 'viewport_percentage_units_large'],
  [/^cq(w|h|i|b|min|max)$/, 'container_query_length_units'],
];

const withoutPrefix = (name: string) => !name.startsWith('-');

interface Missing {
  name: string;
  lacking: string[];
  at: number;
}

/** The entry of MDN's CSS data at a path, e.g. `properties.height`. */
function entryAt(root: Identifier | undefined, ...path: string[]): Identifier | undefined {
  return path.reduce<Identifier | undefined>((at, key) => at?.[key] as Identifier | undefined, root);
}

class Stylesheet {
  readonly uses: Use[] = [];
  private readonly css: Identifier;

  constructor(private readonly data: CompatData) {
    this.css = data.css as unknown as Identifier;
  }

  private lacking(path: string[], prefixes?: string[]): string[] {
    return this.data.lacking([entryAt(this.css, ...path)?.__compat as CompatStatement | undefined], prefixes);
  }

  private report(feature: string, lacking: string[], node: CssNode) {
    if (lacking.length > 0) this.uses.push({ feature, lacking: lacking.join(', '), at: node.loc?.start.offset ?? 0 });
  }

  block(children: List<CssNode>, isInRule: boolean) {
    const declarations = children.toArray().filter((node) => node.type === 'Declaration');
    children.forEach((node) => {
      if (node.type === 'Declaration') this.declaration(node, declarations);
      if (node.type === 'Atrule') this.atrule(node, isInRule);
      if (node.type === 'Rule') {
        if (isInRule) this.report('nested rules', this.lacking(['selectors', 'nesting']), node);
        this.selectors(node.prelude);
        this.block(node.block.children, true);
      }
    });
  }

  private atrule(node: Atrule, isInRule: boolean) {
    const name = node.name.toLowerCase();
    if (withoutPrefix(name)) this.report(`@${name}`, this.lacking(['at-rules', name]), node);
    // its block only applies where the feature exists
    if (name === 'supports') return;
    if (name === 'media' && node.prelude) this.mediaQuery(node.prelude);
    // steps of keyframes look like rules with selectors
    if (name === 'keyframes') walk(node, { visit: 'Declaration', enter: (step) => this.declaration(step, []) });
    else if (node.block) this.block(node.block.children, isInRule);
  }

  private mediaQuery(prelude: CssNode) {
    walk(prelude, (node) => {
      if (node.type === 'FeatureRange')
        this.report('@media with < or >', this.lacking(['at-rules', 'media', 'range_syntax']), node);
      if (node.type === 'Feature')
        this.report(`@media (${node.name})`, this.lacking(['at-rules', 'media', node.name]), node);
    });
  }

  private selectors(prelude: CssNode) {
    walk(prelude, (node) => {
      if (node.type !== 'PseudoClassSelector' && node.type !== 'PseudoElementSelector') return;
      const mark = node.type === 'PseudoClassSelector' ? ':' : '::';
      if (withoutPrefix(node.name)) this.report(`${mark}${node.name}`, this.lacking(['selectors', node.name]), node);
    });
  }

  /**
   * A browser skips a declaration that it cannot parse and uses the previous one. This fails with `var()`, which is resolved
   * later, and with custom properties, which accept any value.
   */
  private declaration(node: Declaration, block: readonly Declaration[]) {
    const { property } = node;
    const isCustom = property.startsWith('--');
    const before = block.slice(0, block.indexOf(node));
    const prefixes = block.flatMap((other) => /^(-\w+-)(.*)$/.exec(other.property)?.slice(1, 3) ?? []);
    const own = prefixes.filter((_, at) => prefixes[at + 1] === property);
    const lacking = isCustom || !withoutPrefix(property) ? [] : this.lacking(['properties', property], own);
    if (lacking.length > 0) return this.report(property, lacking, node);
    if (node.value.type !== 'Value') return;
    const missing = this.missingIn(node.value, property);
    if (missing.length === 0) return;
    const isReadLate = isCustom || this.hasVariable(node.value);
    const isReadable = ({ property: other, value }: Declaration) =>
      other === property && value.type === 'Value' && this.missingIn(value, other).length === 0;
    if (!isReadLate && before.some(isReadable)) return;
    for (const { name, lacking } of missing) this.report(`${isCustom ? '--…' : property}: ${name}`, lacking, node);
  }

  private hasVariable(value: Value): boolean {
    return find(value, (node) => node.type === 'Function' && node.name === 'var') !== null;
  }

  private missingIn(value: Value, property: string): Missing[] {
    const missing: Missing[] = [];
    const note = (name: string, lacking: string[], node: CssNode) => {
      if (lacking.length > 0) missing.push({ name, lacking, at: node.loc?.start.offset ?? 0 });
    };
    walk(value, (node) => {
      if (node.type === 'Dimension') note(node.unit, this.unit(node.unit.toLowerCase()), node);
      if (node.type === 'Function' && withoutPrefix(node.name))
        note(`${node.name}()`, this.data.lacking(this.data.cssFunctions.get(node.name.toLowerCase())), node);
      if (node.type === 'Identifier' && !property.startsWith('--') && withoutPrefix(node.name))
        note(node.name, this.lacking(['properties', property, node.name]), node);
    });
    return missing;
  }

  private unit(unit: string): string[] {
    const group = unitGroups.find(([units]) => units.test(unit))?.[1] ?? unit;
    return this.lacking(['types', 'length', group]);
  }
}

/** Returns all uses in a stylesheet that the floor lacks, unless a supported declaration precedes them or `@supports` surrounds them. */
export function usesOfStyles(text: string, data: CompatData): Use[] {
  const sheet = new Stylesheet(data);
  const ast = parse(text, { positions: true, parseCustomProperty: true });
  if (ast.type === 'StyleSheet') sheet.block(ast.children, false);
  return sheet.uses;
}
