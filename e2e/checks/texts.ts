// Translators, highlighters and dictionaries replace a page's text nodes by elements. When React later removes the node, or
// inserts before it, the screen fails with a NotFoundError. A text that is the only child of its element is safe, because React
// then sets the element's content. So every text next to a varying child needs its own element.
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type JsxChild, type Node, SyntaxKind } from 'typescript/unstable/ast';
import {
  isBinaryExpression,
  isJsxElement,
  isJsxExpression,
  isJsxFragment,
  isJsxSelfClosingElement,
  isJsxText,
} from 'typescript/unstable/ast/is';
import { API, SignatureKind, type Type, TypeFlags } from 'typescript/unstable/sync';
import { report } from './report.ts';

const root = join(dirname(fileURLToPath(import.meta.url)), '../..');
const screens = /\/(?:host|remotes\/\w+|shared|templates\/remote)\/src\/.*(?<!\.test)\.tsx$/;

const api = new API({ cwd: root });
const project = api.updateSnapshot({ openProjects: [join(root, 'tsconfig.json')] }).getProjects()[0];
if (!project) throw new Error('tsconfig.json opens no project');
const { program, checker } = project;

const TEXT = TypeFlags.StringLike | TypeFlags.NumberLike | TypeFlags.BigIntLike;

const isNodeOfAnyKind = (kinds: readonly Type[]) => kinds.some((kind) => kind.getSymbol()?.name === 'Iterable');

/** Possible types of a value; for a list, those of its items. A ReactNode is left out, because its owner determines it. */
function kindsOf(type: Type | undefined): readonly Type[] {
  if (!type) return [];
  if (checker.isArrayType(type) && type.isTypeReference()) return checker.getTypeArguments(type).flatMap(kindsOf);
  const kinds = type.isUnionType() ? type.getTypes() : [type];
  return isNodeOfAnyKind(kinds) ? [] : kinds.flatMap((kind) => (kind === type ? [kind] : kindsOf(kind)));
}

const isConstant = (type: Type) => type.isStringLiteralType() || type.isNumberLiteralType();
const isDrawnText = (type: Type) => (type.flags & TEXT) !== 0 && !(type.isStringLiteralType() && type.value === '');

/** Types of text that a component may return. */
function textsOf(component: Node): readonly Type[] {
  const type = checker.getTypeAtLocation(component);
  const signatures = type ? checker.getSignaturesOfType(type, SignatureKind.Call) : [];
  return signatures.flatMap((signature) => kindsOf(checker.getReturnTypeOfSignature(signature))).filter(isDrawnText);
}

/** Whether a child may be a text, and whether it may change. */
function read(child: JsxChild): { isText: boolean; varies: boolean } {
  if (isJsxText(child)) return { isText: true, varies: false };
  if (!isJsxExpression(child) || !child.expression) return { isText: false, varies: false };
  const { expression } = child;
  const isOptional =
    isBinaryExpression(expression) && expression.operatorToken.kind === SyntaxKind.AmpersandAmpersandToken;
  const kinds = kindsOf(checker.getTypeAtLocation(isOptional ? expression.right : expression));
  return { isText: kinds.some(isDrawnText), varies: isOptional || kinds.length !== 1 || !kinds.every(isConstant) };
}

const isDrawn = (child: JsxChild) =>
  isJsxText(child) ? !child.containsOnlyTriviaWhiteSpaces : !isJsxExpression(child) || child.expression !== undefined;

const problems: string[] = [];

function look(node: Node): void {
  if (isJsxElement(node) || isJsxFragment(node)) {
    const children = node.children.filter(isDrawn);
    const contents = children.map(read);
    const isBeside = children.length > 1 || isJsxFragment(node);
    if (isBeside && contents.some(({ varies }) => varies))
      for (const [index, child] of children.entries())
        if (contents[index]?.isText) tell(child, 'is next to what varies: give it an element');
  }
  const tag = isJsxElement(node) ? node.openingElement : isJsxSelfClosingElement(node) ? node : undefined;
  if (tag && textsOf(tag.tagName).length > 0) tell(tag.tagName, 'draws a bare text: let it draw an element');
  node.forEachChild(look);
}

function tell(place: Node, what: string): void {
  const file = place.getSourceFile();
  const line = file.getLineAndCharacterOfPosition(place.getStart()).line + 1;
  problems.push(`${relative(root, file.fileName)}:${line} ${place.getText().replace(/\s+/g, ' ')} ${what}`);
}

for (const path of program.getSourceFileNames()) {
  const file = screens.test(path) ? program.getSourceFile(path) : undefined;
  if (file) look(file);
}
api.close();
report('texts', problems);
