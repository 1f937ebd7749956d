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

/** The entry of MDN's CSS data at a path, e.g. `properties.height`. */
function entryAt(root: Identifier | undefined, ...path: string[]): Identifier | undefined {
  return path.reduce<Identifier | undefined>((entry, key) => entry?.[key] as Identifier | undefined, root);
}

const atOf = ({ loc }: CssNode) => loc?.start.offset ?? 0;

const newUse = (feature: string, lacking: string[], node: CssNode): Use => ({
  feature,
  lacking: lacking.join(', '),
  at: atOf(node),
});

class Stylesheet {
  readonly uses: Use[] = [];
  private readonly css: Identifier;

  constructor(private readonly data: CompatData) {
    this.css = data.css as unknown as Identifier;
  }

  private browsersWithout(path: string[], prefixes?: string[]): string[] {
    return this.data.browsersWithout([entryAt(this.css, ...path)?.__compat as CompatStatement | undefined], prefixes);
  }

  private report(feature: string, lacking: string[], node: CssNode) {
    if (lacking.length > 0) this.uses.push(newUse(feature, lacking, node));
  }

  checkBlock(children: List<CssNode>, isInRule: boolean) {
    const declarations = children.toArray().filter((node) => node.type === 'Declaration');
    children.forEach((node) => {
      if (node.type === 'Declaration') this.checkDeclaration(node, declarations);
      if (node.type === 'Atrule') this.checkAtrule(node, isInRule);
      if (node.type === 'Rule') {
        if (isInRule) this.report('nested rules', this.browsersWithout(['selectors', 'nesting']), node);
        this.checkSelectors(node.prelude);
        this.checkBlock(node.block.children, true);
      }
    });
  }

  private checkAtrule(node: Atrule, isInRule: boolean) {
    const name = node.name.toLowerCase();
    if (withoutPrefix(name)) this.report(`@${name}`, this.browsersWithout(['at-rules', name]), node);
    // its block only applies where the feature exists
    if (name === 'supports') return;
    if (name === 'media' && node.prelude) this.checkMediaQuery(node.prelude);
    // steps of keyframes look like rules with selectors
    if (name === 'keyframes') walk(node, { visit: 'Declaration', enter: (step) => this.checkDeclaration(step, []) });
    else if (node.block) this.checkBlock(node.block.children, isInRule);
  }

  private checkMediaQuery(prelude: CssNode) {
    walk(prelude, (node) => {
      if (node.type === 'FeatureRange')
        this.report('@media with < or >', this.browsersWithout(['at-rules', 'media', 'range_syntax']), node);
      if (node.type === 'Feature')
        this.report(`@media (${node.name})`, this.browsersWithout(['at-rules', 'media', node.name]), node);
    });
  }

  private checkSelectors(prelude: CssNode) {
    walk(prelude, (node) => {
      if (node.type !== 'PseudoClassSelector' && node.type !== 'PseudoElementSelector') return;
      const colons = node.type === 'PseudoClassSelector' ? ':' : '::';
      if (withoutPrefix(node.name))
        this.report(`${colons}${node.name}`, this.browsersWithout(['selectors', node.name]), node);
    });
  }

  /**
   * A browser skips a declaration that it cannot parse and uses the previous one. This fails with `var()`, which is resolved
   * later, and with custom properties, which accept any value.
   */
  private checkDeclaration(node: Declaration, block: readonly Declaration[]) {
    const { property } = node;
    const isCustom = property.startsWith('--');
    const earlierDeclarations = block.slice(0, block.indexOf(node));
    const prefixes = block.flatMap((other) => /^(-\w+-)(.*)$/.exec(other.property)?.slice(1, 3) ?? []);
    const propertyPrefixes = prefixes.filter((_, at) => prefixes[at + 1] === property);
    const lacking =
      isCustom || !withoutPrefix(property) ? [] : this.browsersWithout(['properties', property], propertyPrefixes);
    if (lacking.length > 0) return this.report(property, lacking, node);
    if (node.value.type !== 'Value') return;
    const missing = this.missingIn(node.value, property);
    if (missing.length === 0) return;
    const isResolvedLate = isCustom || this.hasVariable(node.value);
    const isReadable = ({ property: other, value }: Declaration) =>
      other === property && value.type === 'Value' && this.missingIn(value, other).length === 0;
    if (!isResolvedLate && earlierDeclarations.some(isReadable)) return;
    for (const use of missing)
      this.uses.push({ ...use, feature: `${isCustom ? '--…' : property}: ${use.feature}`, at: atOf(node) });
  }

  private hasVariable(value: Value): boolean {
    return find(value, (node) => node.type === 'Function' && node.name === 'var') !== null;
  }

  private missingIn(value: Value, property: string): Use[] {
    const missing: Use[] = [];
    const addMissing = (feature: string, lacking: string[], node: CssNode) => {
      if (lacking.length > 0) missing.push(newUse(feature, lacking, node));
    };
    walk(value, (node) => {
      if (node.type === 'Dimension') addMissing(node.unit, this.browsersWithoutUnit(node.unit.toLowerCase()), node);
      if (node.type === 'Function' && withoutPrefix(node.name)) {
        const statements = this.data.cssFunctions.get(node.name.toLowerCase());
        addMissing(`${node.name}()`, this.data.browsersWithout(statements), node);
      }
      if (node.type === 'Identifier' && !property.startsWith('--') && withoutPrefix(node.name))
        addMissing(node.name, this.browsersWithout(['properties', property, node.name]), node);
    });
    return missing;
  }

  private browsersWithoutUnit(unit: string): string[] {
    const group = unitGroups.find(([units]) => units.test(unit))?.[1] ?? unit;
    return this.browsersWithout(['types', 'length', group]);
  }
}

/** Returns all uses in a stylesheet that the floor lacks, unless a supported declaration precedes them or `@supports` surrounds them. */
export function findStyleUses(text: string, data: CompatData): Use[] {
  const sheet = new Stylesheet(data);
  const ast = parse(text, { positions: true, parseCustomProperty: true });
  if (ast.type === 'StyleSheet') sheet.checkBlock(ast.children, false);
  return sheet.uses;
}
