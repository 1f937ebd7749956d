import { PAGE_ELEMENTS } from '@liaozhai/shared/contract';
import { forgetScreen, hasItsEnd, isWholePage } from './caches';

const setElement = `<script type="application/json" id="${PAGE_ELEMENTS.set}">`;

interface PageParts {
  /** Head, content and loader: all that can be painted. */
  shown: string;
  /** From the set on: all that decides what runs. */
  rest: string;
  /** What another page must have alike for its rest to go with `shown`: the policy, and the part of the head that builds decide. */
  frame: string;
}

const policyOf = ({ headers }: Response) => headers.get('content-security-policy') ?? '';

/** A page in its parts; null if it was cut off, or is of a host whose loader stands at the page's end. */
async function partsOf(page: Response): Promise<PageParts | null> {
  const html = await page.text();
  const setAt = html.indexOf(setElement);
  const shown = html.slice(0, setAt);
  if (setAt < 0 || !shown.includes('<script>') || !hasItsEnd(html)) return null;
  // the policy has the hashes of styles and loader
  const frame = policyOf(page) + html.slice(html.indexOf('<style>'), html.indexOf('</head>'));
  return { shown, rest: html.slice(setAt), frame };
}

/** The fresh page belongs to a trace of the server's, and the headers that name it come too late. */
function traceOf({ headers }: Response): string {
  const [, trace] = /traceparent;desc="([\w-]+)"/.exec(headers.get('server-timing') ?? '') ?? [];
  return trace ? `<meta name="traceparent" content="${trace}">` : '';
}

const notRepeated = ['content-encoding', 'content-length', 'server-timing'];

/**
 * Answers a navigation immediately with the page that its address showed last, and continues with the fresh page from its set on. Content
 * read in that time may be old; none of its code runs. Resolves with null for a page that cannot start so, and where the page was
 * requested again just now: servers that differ would cause endless requests. `url` is without a fragment.
 */
export function createAnswerAtOnce() {
  const again = new Set<string>();

  const restFor = async (kept: PageParts, url: string, fresh: Response | null): Promise<string> => {
    // no answer in time: the worker took its page for any address
    if (!fresh || fresh.url !== url) return kept.rest;
    const page = isWholePage(fresh) ? await partsOf(fresh) : null;
    if (page?.frame === kept.frame) return traceOf(fresh) + page.rest;
    again.add(url);
    await forgetScreen(url);
    // the loader reads that the page is to be asked for again
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
