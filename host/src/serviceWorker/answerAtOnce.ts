import { PAGE_ELEMENTS } from '@liaozhai/shared/contract';
import { deleteScreen, hasEndTag, isCacheablePage } from './caches';

const setElementTag = `<script type="application/json" id="${PAGE_ELEMENTS.set}">`;

interface PageParts {
  /** Head, content and loader: everything that can be painted. */
  beforeSet: string;
  /** From the set on: everything that decides which code runs. */
  fromSet: string;
  /** Must be equal for another page's `fromSet` to follow `beforeSet`: the policy, and the part of the head that depends on builds. */
  frame: string;
}

const policyOf = ({ headers }: Response) => headers.get('content-security-policy') ?? '';

/** Splits a page; null if it is truncated, or of a host whose loader is at the page's end. */
async function partsOf(page: Response): Promise<PageParts | null> {
  const html = await page.text();
  const setAt = html.indexOf(setElementTag);
  const beforeSet = html.slice(0, setAt);
  if (setAt < 0 || !beforeSet.includes('<script>') || !hasEndTag(html)) return null;
  // the policy contains the hashes of styles and loader
  const frame = policyOf(page) + html.slice(html.indexOf('<style>'), html.indexOf('</head>'));
  return { beforeSet, fromSet: html.slice(setAt), frame };
}

/** The fresh page's trace as markup, since the headers that name it arrive too late. */
function traceOf({ headers }: Response): string {
  const [, trace] = /traceparent;desc="([\w-]+)"/.exec(headers.get('server-timing') ?? '') ?? [];
  return trace ? `<meta name="traceparent" content="${trace}">` : '';
}

const omittedHeaders = ['content-encoding', 'content-length', 'server-timing'];

/**
 * Answers a navigation immediately with the page last shown at its address, and continues with the fresh page from its set on.
 * The content may be outdated until then; none of its code runs. Resolves with null if the page cannot be split, or was just
 * reloaded for a mismatch: servers that differ would cause endless reloads. `url` has no fragment.
 */
export function createAnswerAtOnce() {
  const reloadedUrls = new Set<string>();

  const restFor = async (cachedParts: PageParts, url: string, fresh: Response | null): Promise<string> => {
    // no response in time: the worker used its page for any address
    if (!fresh || fresh.url !== url) return cachedParts.fromSet;
    const page = isCacheablePage(fresh) ? await partsOf(fresh) : null;
    if (page?.frame === cachedParts.frame) return traceOf(fresh) + page.fromSet;
    reloadedUrls.add(url);
    await deleteScreen(url);
    // makes the loader request the page again
    return `${setElementTag}null${cachedParts.fromSet.slice(cachedParts.fromSet.indexOf('</script>'))}`;
  };

  return async (url: string, cachedPage: Response | undefined, fresh: Promise<Response>): Promise<Response | null> => {
    const wasReloaded = reloadedUrls.delete(url);
    const page = cachedPage && !wasReloaded ? await partsOf(cachedPage) : null;
    if (!cachedPage || !page) return null;
    const encoder = new TextEncoder();
    const body = new ReadableStream<Uint8Array>({
      async start(controller) {
        controller.enqueue(encoder.encode(page.beforeSet));
        const freshResponse = await fresh.catch(() => null);
        controller.enqueue(encoder.encode(await restFor(page, url, freshResponse)));
        controller.close();
      },
    });
    return new Response(body, { headers: [...cachedPage.headers].filter(([name]) => !omittedHeaders.includes(name)) });
  };
}
