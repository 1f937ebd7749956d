import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Transformer } from '@napi-rs/image';
import { afterEach, describe, expect, rs, test } from '@rstest/core';
import { readEnv } from '../env.ts';
import { startBackend } from '../server.ts';
import { contentFolder, loadContent } from './content.ts';
import { bitmapProblem, pictureProblem } from './pictures.ts';

const temporary: string[] = [];

function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'liaozhai-content-'));
  temporary.push(folder);
  return folder;
}

afterEach(() => {
  rs.restoreAllMocks();
  for (const folder of temporary.splice(0)) rmSync(folder, { recursive: true });
});

const guide = readFileSync(join(contentFolder, 'README.md'), 'utf8');
/** Returns the guide's first code block of a language. */
const example = (language: string) =>
  new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'm').exec(guide)?.[1] ?? '';
const story = example('markdown');
const cover = example('svg');
const square = cover.replace('0 0 600 800', '0 0 600 600');

/** Returns the beginning of a camera's JPEG: an EXIF block, then the frame header. */
function jpeg(width: number, height: number, bytes = 200): Buffer {
  const picture = Buffer.alloc(bytes);
  Buffer.from([0xff, 0xd8, 0xff, 0xe1, 0, 8, 69, 120, 105, 102, 0, 0, 0xff, 0xc2, 0, 17, 8]).copy(picture);
  picture.writeUInt16BE(height, 17);
  picture.writeUInt16BE(width, 19);
  return picture;
}

/** Returns a WebP header of one of the three kinds. */
function webp(kind: 'VP8 ' | 'VP8L' | 'VP8X', width: number, height: number): Buffer {
  const picture = Buffer.alloc(200);
  picture.write(`RIFF....WEBP${kind}`, 'latin1');
  if (kind === 'VP8X') {
    picture.writeUIntLE(width - 1, 24, 3);
    picture.writeUIntLE(height - 1, 27, 3);
  } else if (kind === 'VP8L') picture.writeUInt32LE((width - 1) | ((height - 1) << 14), 21);
  else {
    picture.writeUInt16LE(width, 26);
    picture.writeUInt16LE(height, 28);
  }
  return picture;
}

/** Creates a content folder with the README's example story. `files` replaces some of its files. */
function folderWith(files: Record<string, string | Buffer | null> = {}): string {
  const folder = makeFolder();
  for (const room of ['avatars', 'stories/ye-du']) mkdirSync(join(folder, room), { recursive: true });
  const all = {
    'authors.yaml': 'pu-songling: { name: 聊斋先生, avatar: inkstone }',
    'avatars/01-inkstone.svg': square,
    'stories/ye-du/story.md': story,
    'stories/ye-du/cover.svg': cover,
    'stories/ye-du/chuanjia.svg': square,
    'stories/ye-du/keren.svg': square,
    ...files,
  };
  for (const [file, text] of Object.entries(all)) if (text !== null) writeFileSync(join(folder, file), text);
  return folder;
}

describe('the stories of the product', () => {
  const { stories, avatars, pictures, problems } = loadContent(contentFolder);

  test('are complete, and their pictures exist', () => {
    expect(problems).toEqual([]);
    expect(stories.length).toBeGreaterThanOrEqual(28);
    expect(new Set(stories.map(({ title }) => title)).size).toBe(stories.length);
    const portraits = stories.flatMap(({ characters }) => characters);
    expect(pictures.size).toBe(stories.length + portraits.length + avatars.length);
  });

  for (const { id, title, opening, plot } of stories) {
    test(`${title} opens with deeds and words, has scenes and its name on the cover`, () => {
      expect(opening).toMatch(/\*[^*]+\*/);
      expect(opening).toMatch(/“[^”]+”/);
      expect(opening.split('*').length % 2).toBe(1);
      expect(opening.split('“').length).toBe(opening.split('”').length);
      expect(plot).toBeDefined();
      expect(pictures.get(`covers/${id}.svg`)).toContain(`aria-label="${title}"`);
    });
  }
});

describe('an invalid story', () => {
  const file = 'stories/ye-du/story.md';
  const edit = (from: string | RegExp, to: string) => ({ [file]: story.replace(from, to) });
  const faults: [string, Record<string, string | Buffer | null>, string][] = [
    ['has no story.md', { [file]: null }, `${file}: is missing; add it, or remove what names it`],
    ['has no front matter', edit('---\n', ''), `${file}: begin with a block of fields between two lines of ---`],
    ['is no YAML', edit('[渡口, 夜雨]', '[渡口, 夜雨'), `${file}: line 7: `],
    ['has no title', edit('title: 夜渡\n', ''), `${file}: title: write 1 to 20 characters on one line`],
    ['has an unknown field', edit('title:', 'titel: 夜\ntitle:'), `${file}: titel: there is no such field`],
    ['has an unknown author', edit('pu-songling', 'nobody'), `${file}: author: authors.yaml has no nobody; add it`],
    ['is published on no day', edit('2026-02-01', '2026-13-01'), `${file}: published: write a day like 2026-01-31`],
    ['has no length', edit('length: short', 'length: tiny'), `${file}: length: write short or long`],
    ['has too short a summary', edit(/summary: .*/, 'summary: 短'), `${file}: summary: write 50 to 100 characters`],
    ['has no tags', edit(/tags: .*/, 'tags: []'), `${file}: tags: write 1 to 6 tags`],
    ['has two characters of one id', edit('id: keren', 'id: chuanjia'), `${file}: characters: list one to nine`],
    ['has a hyphen in a character', edit('id: keren', 'id: ke-ren'), `${file}: characters.1.id: write small letters`],
    ['has text above its sections', edit('## Opening\n', ''), `${file}: write "## Opening" above the first paragraph`],
    [
      'has an opening of one paragraph',
      edit(/(## Opening\n\n.*)[\s\S]*?(?=## S)/, '$1\n\n'),
      `${file}: opening: write`,
    ],
    [
      'sets what is said as done',
      edit('“船钱不必给，”', '*船家说：“船钱不必给。”*'),
      `${file}: opening: take what is said`,
    ],
    [
      'has scenes but no voice',
      edit(/voice:[\s\S]*?(?=---)/, ''),
      `${file}: line 1: a story with scenes needs a voice`,
    ],
    ['has a misspelt section', edit('## Memory', '## Memmory'), `${file}: line 95: "## Memmory" is no section`],
    ['has no scene', edit(/## Scene[\s\S]*?(?=## Ending)/, ''), `${file}: line 28: write "## Scene id`],
    ['has a misspelt part', edit('### Meanwhile', '### Meantime'), `${file}: line 45: "### Meantime" is no part`],
    ['has a scene nowhere', edit('place: 江心的渡船\n', ''), `${file}: line 28: write "place: "`],
    ['has an unknown hour', edit('hour: 清晨', 'hour: 正午'), `${file}: line 50: write "hour: "`],
    [
      'goes on to an unknown scene',
      edit('我上岸 → shangan', '我上岸 → shanggan'),
      `${file}: line 58: shanggan: there is no`,
    ],
    ['has a scene that nothing leads to', edit(/→ duian/g, '→ shangan'), `${file}: line 50: duian: cannot be reached`],
    ['has an ending that nobody reaches', edit(' → +tan', ''), `${file}: line 72: needs tan, which no reply sets`],
    ['has a reply without an answer', edit(/ {2}- .*“有人等，就好。”\n/, ''), `${file}: line 42: has no answer`],
    ['has one ending', edit(/## Ending shangan[\s\S]*?(?=## E)/, ''), `${file}: line 28: write at least two`],
    ['leaves a reader in a loop', edit('我上岸 → shangan', '我上岸'), `${file}: line 50: duian: a reader may`],
    ['has an open quotation', edit('你踩上湿沙', '“你踩上湿沙'), `${file}: line 59: has a “ without its ”`],
    ['fills in what there is not', edit('{place}。', '{planet}。'), `${file}: line 82: {planet} is not filled in`],
    ['does not know one of its cast', edit('- 舱中客', '- 客商'), `${file}: line 28: answer questions about 舱中客`],
    ['has no cover', { 'stories/ye-du/cover.svg': null }, 'stories/ye-du/cover.svg: is missing; add it'],
    [
      'has two covers',
      { 'stories/ye-du/cover.jpg': jpeg(900, 1200) },
      'stories/ye-du/cover: is there as svg and as jpg; keep one',
    ],
    [
      'has a portrait in another format',
      { 'stories/ye-du/keren.svg': null, 'stories/ye-du/keren.png': 'x' },
      'stories/ye-du/keren.png: save it as WebP (.webp), JPEG (.jpg) or SVG',
    ],
    ['has a square cover', { 'stories/ye-du/cover.svg': square }, 'stories/ye-du/cover.svg: has another shape; give'],
    ['has a script', { 'stories/ye-du/keren.svg': '<svg><script/></svg>' }, 'stories/ye-du/keren.svg: has <script>'],
  ];

  for (const [fault, files, line] of faults) {
    test(`is left out when it ${fault}; the problem names file and cure`, () => {
      const { stories, pictures, problems } = loadContent(folderWith(files));
      expect(stories).toEqual([]);
      expect([...pictures.keys()]).toEqual(['avatars/inkstone.svg']);
      expect(problems.find((problem) => problem.startsWith(line))).toMatch(/ \(this story is left out\)$/);
    });
  }

  test('has no author if authors.yaml is invalid; the problem names the cure', () => {
    const faults = {
      'A_B: { name: 聊斋先生, avatar: inkstone }': 'A_B: write small letters, digits and hyphens',
      'pu-songling: 聊斋先生': 'pu-songling: write each author like "pu-songling: {',
      'pu-songling: { name: 聊斋先生, avatar: inkstone, age: 75, town: 淄川 }':
        'pu-songling.age: there is no such field',
      'pu-songling: { name: 聊斋先生 }': 'pu-songling.avatar: name a picture of avatars/',
      聊斋先生: 'write each author like "pu-songling: {',
    };
    for (const [yaml, cure] of Object.entries(faults)) {
      const { stories, problems } = loadContent(folderWith({ 'authors.yaml': yaml }));
      expect(stories).toEqual([]);
      expect(problems[0]).toContain(`authors.yaml: ${cure}`);
    }
  });

  test('is reported with all its faults', () => {
    const { problems } = loadContent(folderWith(edit(/title: .*\n|tags: .*\n/g, '')));
    expect(problems.map((problem) => problem.split(': ')[1])).toEqual(['title', 'tags']);
  });

  test('does not affect other stories', () => {
    const folder = folderWith({ 'avatars/crane.svg': square, 'avatars/02-crane.svg': '<svg/>' });
    mkdirSync(join(folder, 'stories/Ye Du'));
    writeFileSync(join(folder, 'stories/.DS_Store'), '');
    const { stories, avatars, problems } = loadContent(folder);
    expect([stories.map(({ id }) => id), avatars]).toEqual([['ye-du'], ['/api/media/avatars/inkstone.svg']]);
    expect(problems).toEqual([
      'avatars/02-crane.svg: has no xmlns="http://www.w3.org/2000/svg" on <svg>; add it (this avatar is left out)',
      'avatars/crane.svg: give it a name like 13-crane.svg (this avatar is left out)',
      'stories/Ye Du: name the folder in small letters, digits and hyphens (this story is left out)',
    ]);
  });

  test('may have a folder in place of a file, and the stories folder may be missing', () => {
    const folder = folderWith({ 'stories/ye-du/cover.svg': null });
    mkdirSync(join(folder, 'stories/ye-du/cover.svg'));
    expect(loadContent(folder).problems).toEqual([
      'stories/ye-du/cover.svg: cannot be read (EISDIR); make it readable (this story is left out)',
    ]);
    rmSync(join(folder, 'stories'), { recursive: true });
    expect(loadContent(folder).problems).toEqual([
      'stories: is missing; add it, or remove what names it (every story is left out)',
    ]);
  });

  test('does not result from Windows line ends, a numeric title, or missing scenes and voice', () => {
    const digits = story.replace('title: 夜渡', 'title: 1688').replaceAll('\n', '\r\n');
    const short = story.replace(/voice:[\s\S]*?(?=---)/, '').replace(/## Scene[\s\S]*/, '');
    for (const [text, title] of [
      [digits, '1688'],
      [short, '夜渡'],
    ] as const) {
      const { stories, problems } = loadContent(folderWith({ [file]: text }));
      expect([problems, stories.map((one) => one.title)]).toEqual([[], [title]]);
    }
  });
});

describe('a picture', () => {
  const put = (inside: string, root = '') =>
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 600 600"${root}>${inside}</svg>`;

  test('may have shapes, gradients, masks, filters, text and comments', () => {
    const fine = `<?xml version="1.0" encoding="UTF-8"?>
<!-- drawn by hand -->
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 600 600" role='img'>
  <defs><linearGradient id="sky"><stop offset="0" stop-color="rgb(1, 2, 3)"/></linearGradient>
  <filter id="mist"><feGaussianBlur stdDeviation="4"/></filter></defs>
  <g transform="translate(1 2)" style="fill:url(#sky)"><use href="#a"/><text>雨 &amp; 雪</text></g>
</svg>
`;
    expect(pictureProblem(fine, 'square')).toBeNull();
  });

  const refused: [string, string, string][] = [
    ['a script', put('<script>alert(1)</script>'), 'has <script>'],
    ['a handler', put('<g onload="alert(1)"/>'), 'has a handler onload'],
    ['a handler on the root', put('', ' ONCLICK="alert(1)"'), 'has a handler ONCLICK'],
    ['embedded HTML', put('<foreignObject/>'), 'has <foreignObject>'],
    ['a link', put('<a href="#x"/>'), 'has <a>'],
    ['a picture from elsewhere', put('<image href="https://example.org/a.png"/>'), 'has <image>'],
    ['a filter that loads', put('<filter><feImage href="#a"/></filter>'), 'has <feImage>'],
    [
      'a shape from elsewhere',
      put('<use xlink:href="https://example.org/a.svg#b"/>'),
      'refers to "https://example.org',
    ],
    ['a shape from data', put(`<use href='data:image/svg+xml,x'/>`), 'refers to "data:'],
    ['a colour from elsewhere', put('<g fill="url(https://example.org/#a)"/>'), 'has fill="url(https:'],
    ['a style that loads', put('<g style="fill:image-set(\'https://example.org\')"/>'), 'has style='],
    ['an escape that hides an address', put('<g style="fill:u\\72l(//example.org)"/>'), 'has style='],
    ['a style sheet', put('<style>@import "//example.org"</style>'), 'has <style>'],
    ['an animation', put('<set attributeName="href" to="javascript:alert(1)"/>'), 'has <set>'],
    ['a character entity', put('<use href="&#35;a"/>'), 'has "&#35;a"'],
    ['a document type', `<!DOCTYPE svg [<!ENTITY a "b">]>${put('')}`, 'is no plain SVG at "<!DOCTYPE'],
    ['another processor', `<?xml-stylesheet href="a.css"?>${put('')}`, 'is no plain SVG at "<?xml-stylesheet'],
    ['character data', put('<![CDATA[<script/>]]>'), 'is no plain SVG at "<![CDATA['],
    ['an attribute without quotes', put('<g onload=alert(1)/>'), 'is no plain SVG at "<g onload=alert'],
    ['a crossed end tag', put('<g><text></g></text>'), 'has a </g> that closes nothing'],
    ['an open end', put('').replace('</svg>', ''), 'is not a whole <svg>'],
    ['two roots', put('') + put(''), 'is more than one <svg>'],
    ['another root', '<g/>', 'is more than one <svg>'],
    ['no drawing', '', 'is not a whole <svg>'],
    ['no namespace', '<svg viewBox="0 0 600 600"/>', 'has no xmlns='],
    ['no viewBox', '<svg xmlns="http://www.w3.org/2000/svg" width="600" height="600"/>', 'has another shape'],
    ['100 kB and more', put('<g/>'.repeat(25_000)), 'is larger than 100 kB'],
  ];

  for (const [what, svg, problem] of refused) {
    test(`is refused with ${what}`, () => {
      expect(pictureProblem(svg, 'square')).toContain(problem);
    });
  }
});

describe('a server with its content', () => {
  interface Feed {
    data: {
      id: string;
      title: string;
      cover_url: string;
      share_image_url: string;
      created_at: string;
      updated_at: string;
      characters: { avatar: string }[];
    }[];
  }

  /** Starts a backend on a content folder, which publishes it, runs `ask`, and stops the backend. */
  async function served<Answer>(
    dataDir: string,
    folder: string,
    ask: (url: string) => Promise<Answer>,
  ): Promise<Answer> {
    const backend = await startBackend(readEnv({ DATA_DIR: dataDir }), Date.now, folder);
    try {
      return await ask(backend.url);
    } finally {
      await backend.close();
    }
  }
  const feed = async (url: string) => ((await (await fetch(`${url}/api/v1/stories`)).json()) as Feed).data;

  test('lists a new story first after a restart, with its pictures', async () => {
    const [dataDir, folder] = [makeFolder(), makeFolder()];
    cpSync(contentFolder, folder, { recursive: true });
    const before = await served(dataDir, folder, feed);
    cpSync(join(folderWith(), 'stories/ye-du'), join(folder, 'stories/ye-du'), { recursive: true });
    await served(dataDir, folder, async (url) => {
      const after = await feed(url);
      expect(after[0]).toMatchObject({ id: 'ye-du', title: '夜渡', created_at: '2026-02-01T00:00:00.000000Z' });
      expect(after.slice(1)).toEqual(before.slice(0, -1));
      for (const address of [after[0]?.cover_url, after[0]?.characters[1]?.avatar]) {
        const picture = await fetch(url + address);
        expect([picture.status, picture.headers.get('content-type')]).toEqual([200, 'image/svg+xml; charset=utf-8']);
        expect(await picture.text()).toContain('<svg');
      }
    });
  });

  test.for(['webp', 'jpg'] as const)('the preview of a link shows a cover in the format %s', async (format) => {
    const red = Transformer.fromRgbaPixels(Buffer.alloc(600 * 800 * 4, Buffer.from([208, 32, 32, 255])), 600, 800);
    const files = {
      'stories/ye-du/cover.svg': null,
      [`stories/ye-du/cover.${format}`]: await (format === 'webp' ? red.webp(90) : red.jpeg(90)),
    };
    await served(makeFolder(), folderWith(files), async (url) => {
      const [story] = await feed(url);
      const shared = Buffer.from(await (await fetch(`${url}${story?.share_image_url}`)).arrayBuffer());
      const [r, g, b] = await new Transformer(shared).crop(600, 315, 1, 1).rawPixels();
      expect([Number(r) > 180, Number(g) < 60, Number(b) < 60]).toEqual([true, true, true]);
    });
  });

  test('serves covers and portraits as WebP and JPEG, cacheable for a year; a missing portrait is 404', async () => {
    const files = {
      'stories/ye-du/cover.svg': null,
      'stories/ye-du/cover.jpg': jpeg(900, 1200),
      'stories/ye-du/chuanjia.svg': null,
      'stories/ye-du/chuanjia.webp': webp('VP8X', 480, 480),
      'stories/ye-du/keren.svg': null,
    };
    await served(makeFolder(), folderWith(files), async (url) => {
      const [story] = await feed(url);
      const faces = story?.characters.map(({ avatar }) => avatar);
      expect(faces).toEqual(['/api/media/characters/ye-du-chuanjia.webp', null]);
      for (const [address, type, file] of [
        [story?.cover_url, 'image/jpeg', 'stories/ye-du/cover.jpg'],
        [faces?.[0], 'image/webp', 'stories/ye-du/chuanjia.webp'],
      ] as const) {
        const picture = await fetch(`${url}${address}`);
        expect([picture.status, picture.headers.get('content-type')]).toEqual([200, type]);
        expect(picture.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
        expect(Buffer.from(await picture.arrayBuffer())).toEqual(files[file]);
      }
    });
  });

  test.each([
    ['a JPEG cover', jpeg(900, 1200), 'jpg', 'cover', null],
    ['a plain WebP', webp('VP8 ', 600, 800), 'webp', 'cover', null],
    ['a lossless WebP', webp('VP8L', 600, 800), 'webp', 'cover', null],
    ['a WebP with more', webp('VP8X', 480, 480), 'webp', 'square', null],
    ['a JPEG by another name', jpeg(900, 1200), 'webp', 'cover', 'is no whole WebP; save it again'],
    ['a file cut short', jpeg(900, 1200).subarray(0, 12), 'jpg', 'cover', 'is no whole JPEG; save it again'],
    ['an empty file', Buffer.alloc(0), 'jpg', 'cover', 'is no whole JPEG'],
    [
      'a JPEG whose header leads nowhere',
      Buffer.from([0xff, 0xd8, 0xff, 0xe1, 0, 0, 0xff, 0xe1, 0, 0]),
      'jpg',
      'cover',
      'is no whole JPEG',
    ],
    ['a cover on its side', jpeg(1200, 900), 'jpg', 'cover', 'is 1200×900, another shape; crop it to 3:4'],
    ['a portrait that is no square', jpeg(480, 640), 'jpg', 'square', 'is 480×640, another shape; crop it to a square'],
    ['a small cover', jpeg(300, 400), 'jpg', 'cover', 'is 300 wide; save it at 480 or wider'],
    ['a cover for a wall', jpeg(6000, 8000), 'jpg', 'cover', 'is 6000 wide; save it at 2400 or narrower'],
    ['a heavy cover', jpeg(900, 1200, 300_001), 'jpg', 'cover', 'is larger than 300 kB; save it smaller'],
  ] as const)('accepts %s or refuses it with a cure', (_, bytes, format, shape, problem) => {
    const said = bitmapProblem(bytes, format, shape);
    if (problem === null) expect(said).toBe(null);
    else expect(said).toContain(problem);
  });

  test('starts without an invalid story, logs it, and lists it after a repair', async () => {
    const dataDir = makeFolder();
    const whole = await served(dataDir, folderWith(), feed);
    const complain = rs.spyOn(console, 'error').mockImplementation(() => undefined);
    const broken = folderWith({ 'stories/ye-du/cover.svg': '<svg><script/></svg>' });
    await served(dataDir, broken, async (url) => {
      expect(await feed(url)).toEqual([]);
      // conversations with it can be continued
      expect((await fetch(`${url}/api/v1/stories/ye-du`)).status).toBe(200);
    });
    expect(complain.mock.calls).toEqual([
      ['content: stories/ye-du/cover.svg: has <script>; remove it (this story is left out)'],
    ]);
    const mended = await served(dataDir, folderWith(), feed);
    expect(mended).toEqual(whole.map((one) => ({ ...one, updated_at: mended[0]?.updated_at })));
    // unchanged stories are not written again
    expect(await served(dataDir, folderWith(), feed)).toEqual(mended);
  });
});
