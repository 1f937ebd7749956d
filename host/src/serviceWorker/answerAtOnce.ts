import { PAGE_ELEMENTS } from '@liaozhai/shared/contract';
import { forgetScreen, hasItsEnd, isWholePage } from './caches';

const setElement = `<script type="application/json" id="${PAGE_ELEMENTS.set}">`;

interface PageParts {
  /** Head, content and loader: everything that can be painted. */
  shown: string;
  /** From the set on: everything that decides which code runs. */
  rest: string;
  /** Must be equal for another page's `rest` to follow `shown`: the policy, and the part of the head that depends on builds. */
  frame: string;
}

const policyOf = ({ headers }: Response) => headers.get('content-security-policy') ?? '';

/** Splits a page; null if it is truncated, or of a host whose loader is at the page's end. */
async function partsOf(page: Response): Promise<PageParts | null> {
  const html = await page.text();
  const setAt = html.indexOf(setElement);
  const shown = html.slice(0, setAt);
  if (setAt < 0 || !shown.includes('<script>') || !hasItsEnd(html)) return null;
  // the policy contains the hashes of styles and loader
  const frame = policyOf(page) + html.slice(html.indexOf('<style>'), html.indexOf('</head>'));
  return { shown, rest: html.slice(setAt), frame };
}

/** The fresh page's trace as markup, since the headers that name it arrive too late. */
function traceOf({ headers }: Response): string {
  const [, trace] = /traceparent;desc="([\w-]+)"/.exec(headers.get('server-timing') ?? '') ?? [];
  return trace ? `<meta name="traceparent" content="${trace}">` : '';
}

const notRepeated = ['content-encoding', 'content-length', 'server-timing'];

/**
 * Answers a navigation immediately with the page last shown at its address, and continues with the fresh page from its set on.
 * The content may be outdated until then; none of its code runs. Resolves with null if the page cannot be split, or was just
 * reloaded for a mismatch: servers that differ would cause endless reloads. `url` has no fragment.
 */
export function createAnswerAtOnce() {
  const again = new Set<string>();

  const restFor = async (kept: PageParts, url: string, fresh: Response | null): Promise<string> => {
    // no response in time: the worker used its page for any address
    if (!fresh || fresh.url !== url) return kept.rest;
    const page = isWholePage(fresh) ? await partsOf(fresh) : null;
    if (page?.frame === kept.frame) return traceOf(fresh) + page.rest;
    again.add(url);
    await forgetScreen(url);
    // makes the loader request the page again
    return `${setElement}null${kept.rest.slice(kept.rest.indexOf('</script>'))}`;
  };

  return async (url: string, kept: Response | undefined, fresh: Promise<Response>): Promise<Response | null> => {
    const wasAskedAgain = again.delete(url);
    const page = kept && !wasAskedAgain ? await partsOf(kept) : null;
    if (!kept || !page) return null;
    const encoder = new TextEncoder();
    const body = new ReadableStream<Uint8Array>({
      async start(controller) {
        controller.enqueue(encoder.encode(page.shown));
        const answer = await fresh.catch(() => null);
        controller.enqueue(encoder.encode(await restFor(page, url, answer)));
        controller.close();
      },
    });
    return new Response(body, { headers: [...kept.headers].filter(([name]) => !notRepeated.includes(name)) });
  };
}
