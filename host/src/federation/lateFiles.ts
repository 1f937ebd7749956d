/** Elements whose file the browser itself loads: the asset loader's own. */
const exempt = new WeakSet<Element>();

/** Makes an element past which the guard looks: it carries a hash. */
export function createCheckedElement<Name extends 'script' | 'link'>(name: Name): HTMLElementTagNameMap[Name] {
  const element = document.createElement(name);
  exempt.add(element);
  return element;
}

type LoadingElement = HTMLScriptElement | HTMLLinkElement;

/** The address of a file that the asset loader fetches for an element. */
const addresses = new WeakMap<Element, string>();

/** Leaves the element empty: the outcome of the asset loader's file becomes its own `load` or `error`. */
function route(element: LoadingElement, url: string) {
  addresses.set(element, new URL(url, document.baseURI).href);
  const kind = element instanceof HTMLScriptElement ? 'script' : 'style';
  globalThis.__loadAsset?.(kind, url).then(
    () => element.dispatchEvent(new Event('load')),
    // chunk runtimes keep the event's type as the type of their own error
    ({ kind: failure }: { kind: string }) =>
      element.dispatchEvent(Object.defineProperty(new Event('error'), 'type', { value: failure })),
  );
}

/** Replaces the setter of an attribute and `setAttribute` for it; `take` returns whether the browser must not have the value. */
function intercept<Element extends LoadingElement>(
  prototype: Element,
  attribute: 'src' | 'href' | 'rel',
  take: (element: Element, value: string) => boolean,
) {
  const native = Object.getOwnPropertyDescriptor(prototype, attribute);
  const { setAttribute } = prototype;
  Object.defineProperty(prototype, attribute, {
    ...native,
    get(this: Element) {
      return (attribute !== 'rel' && addresses.get(this)) || native?.get?.call(this);
    },
    set(this: Element, value: string) {
      if (exempt.has(this) || !take(this, String(value))) native?.set?.call(this, value);
    },
  });
  prototype.setAttribute = function (this: Element, name: string, value: string) {
    const isOurs = name.toLowerCase() === attribute && !exempt.has(this);
    if (!isOurs || !take(this, String(value))) setAttribute.call(this, name, value);
  };
}

const isStylesheet = (rel: string) => /(^|\s)stylesheet(\s|$)/i.test(rel);

/**
 * Has late files of every bundler come through the page's asset loader, without a plug-in in the build: a script or
 * stylesheet that is given an address. Module scripts are left to the page's policy, which refuses them.
 */
export function guardLateFiles() {
  intercept(HTMLScriptElement.prototype, 'src', (script, url) => {
    if (script.type === 'module') return false;
    route(script, url);
    return true;
  });
  intercept(HTMLLinkElement.prototype, 'href', (link, url) => {
    if (!isStylesheet(link.rel)) return false;
    route(link, url);
    return true;
  });
  // an address that came before the kind
  intercept(HTMLLinkElement.prototype, 'rel', (link, rel) => {
    const url = isStylesheet(rel) && link.getAttribute('href');
    if (url) {
      link.removeAttribute('href');
      route(link, url);
    }
    return false;
  });
}
