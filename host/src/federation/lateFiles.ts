/** Elements that the browser loads itself: those of the asset loader. */
const checkedElements = new WeakSet<Element>();

/** Creates an element that the guard ignores, since it has an integrity hash. */
export function createCheckedElement<Name extends 'script' | 'link'>(name: Name): HTMLElementTagNameMap[Name] {
  const element = document.createElement(name);
  checkedElements.add(element);
  return element;
}

type LoadingElement = HTMLScriptElement | HTMLLinkElement;

/** URL of the file that the asset loader fetches for an element. */
const requestedUrls = new WeakMap<Element, string>();

/** Loads the file through the asset loader and dispatches the outcome on the element as `load` or `error`. */
function route(element: LoadingElement, url: string) {
  requestedUrls.set(element, new URL(url, document.baseURI).href);
  const kind = element instanceof HTMLScriptElement ? 'script' : 'style';
  globalThis.__loadAsset?.(kind, url).then(
    () => element.dispatchEvent(new Event('load')),
    // chunk runtimes copy the event's type into their own error
    ({ kind: failure }: { kind: string }) =>
      element.dispatchEvent(Object.defineProperty(new Event('error'), 'type', { value: failure })),
  );
}

/** Intercepts an attribute's setter and `setAttribute`. `handleValue` returns true to withhold the value from the browser. */
function intercept<Element extends LoadingElement>(
  prototype: Element,
  attribute: 'src' | 'href' | 'rel',
  handleValue: (element: Element, value: string) => boolean,
) {
  const native = Object.getOwnPropertyDescriptor(prototype, attribute);
  const { setAttribute } = prototype;
  Object.defineProperty(prototype, attribute, {
    ...native,
    get(this: Element) {
      return (attribute !== 'rel' && requestedUrls.get(this)) || native?.get?.call(this);
    },
    set(this: Element, value: string) {
      if (checkedElements.has(this) || !handleValue(this, String(value))) native?.set?.call(this, value);
    },
  });
  prototype.setAttribute = function (this: Element, name: string, value: string) {
    const isGuarded = name.toLowerCase() === attribute && !checkedElements.has(this);
    if (!isGuarded || !handleValue(this, String(value))) setAttribute.call(this, name, value);
  };
}

const isStylesheet = (rel: string) => /(^|\s)stylesheet(\s|$)/i.test(rel);

/**
 * Routes scripts and stylesheets that any bundler adds at run time through the asset loader, without a plug-in in the build.
 * Module scripts are left to the Content-Security-Policy, which refuses them.
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
  // `href` was set before `rel`
  intercept(HTMLLinkElement.prototype, 'rel', (link, rel) => {
    const url = isStylesheet(rel) && link.getAttribute('href');
    if (url) {
      link.removeAttribute('href');
      route(link, url);
    }
    return false;
  });
}
