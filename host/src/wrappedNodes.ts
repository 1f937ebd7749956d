/**
 * Makes `removeChild` and `insertBefore` tolerate elements that browser extensions have wrapped in their own, so that React
 * continues (facebook/react#11538). An element that is no longer in its parent at all still throws.
 */
export function tolerateWrappedNodes() {
  const { removeChild, insertBefore } = Node.prototype;
  Node.prototype.removeChild = function <T extends Node>(this: Node, child: T): T {
    removeChild.call(this, childAround(this, child));
    return child;
  };
  Node.prototype.insertBefore = function <T extends Node>(this: Node, node: T, next: Node | null): T {
    insertBefore.call(this, node, next && childAround(this, next));
    return node;
  };
}

/** The child of `parent` that is or contains `node`. */
function childAround(parent: Node, node: Node): Node {
  let child: Node | null = node;
  while (child && child.parentNode !== parent) child = child.parentNode;
  return child ?? node;
}
