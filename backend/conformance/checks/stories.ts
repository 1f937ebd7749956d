import { CAPABILITIES, wechatSignatureSchema } from '@liaozhai/shared/contract';
import * as v from 'valibot';
import { checksOf, Deviation, expectStatus, expectSuccess, expectThat, laravelProblem, shownValue } from '../check.ts';
import { expectAgreed, expectReadable, idOf, pageOf, recordOf, Story, unwrap } from '../entities.ts';
import type { World } from '../world.ts';

const MAX_PAGES = 30;
/** number of pictures fetched of each kind */
const PICTURES = 3;

const feedChecks = checksOf('GET /v1/stories', [
  {
    name: 'answers a visitor with a page of stories',
    async run(world) {
      const feed = await world.feed();
      expectStatus(feed, 200);
      expectThat(pageOf(feed.body).items.length > 0, 'a feed without a story: publish one, or nothing can be tried');
    },
  },
  {
    name: 'gives each story what a page needs',
    async run(world) {
      for (const story of pageOf((await world.feed()).body).items) expectReadable(Story, story);
    },
  },
  {
    name: 'gives each story every field',
    otherwise: 'leaves out what it is not told',
    async run(world) {
      for (const story of pageOf((await world.feed()).body).items) expectAgreed(Story, story);
    },
  },
  {
    name: 'goes on by next_cursor to the end, each story once',
    otherwise: 'shows doubles once, and stops where a page adds nothing',
    async run(world) {
      const visitor = await world.visitor();
      const seenIds = new Set<string>();
      let { items, nextCursor } = pageOf((await world.feed()).body);
      for (let page = 1; ; page += 1) {
        const newIds = [...new Set(items.map(idOf))].filter((id) => !seenIds.has(id));
        expectThat(newIds.length === items.length, `page ${page} repeats ${items.length - newIds.length} stories`);
        for (const id of newIds) seenIds.add(id);
        if (nextCursor === null || page === MAX_PAGES) break;
        const answer = await visitor.get(`/stories?cursor=${encodeURIComponent(nextCursor)}`);
        expectStatus(answer, 200);
        ({ items, nextCursor } = pageOf(answer.body));
      }
      const { isOffered } = await searchable(world);
      if (!isOffered || nextCursor !== null) return;
      // stories by another order or tag must also be in the complete feed
      const { tags } = (pageOf((await world.feed()).body).items[0] ?? {}) as { tags?: string[] };
      for (const search of ['sort=hot', ...(tags ?? []).map((tag) => `tag=${encodeURIComponent(tag)}`)]) {
        const others = pageOf((await visitor.get(`/stories?${search}`)).body).items.map(idOf);
        const unseenIds = others.filter((id) => !seenIds.has(id));
        expectThat(
          unseenIds.length === 0,
          `it ends after ${seenIds.size} stories; ${search} has ${unseenIds.length} others`,
        );
      }
    },
  },
  {
    name: 'keeps its order from one look to the next',
    otherwise: 'puts what it has not seen first; places move under a finger',
    async run(world) {
      const [first, again] = [await world.feed(), await (await world.visitor()).get('/stories')];
      const [ids, later] = [first, again].map(({ body }) => pageOf(body).items.map(idOf).join());
      expectThat(ids === later, () => `${ids}, then ${later}`);
    },
  },
  {
    name: 'answers HEAD and OPTIONS without a failure of its own',
    otherwise: 'sends neither; link checkers, caches and pages of other origins do',
    async run(world) {
      const visitor = await world.visitor();
      expectStatus(await visitor.send('HEAD', '/stories'), 200);
      const { status } = await visitor.send('OPTIONS', '/stories');
      expectThat(status < 500, `${status} to OPTIONS`);
    },
  },
  {
    name: 'gives the first page for a cursor that is none',
    otherwise: 'says that the rest could not be loaded, and offers to try again',
    async run(world) {
      const odd = await (await world.visitor()).get('/stories?cursor=%00nonsense');
      expectStatus(odd, 200);
      const first = pageOf((await world.feed()).body).items.map(idOf);
      expectThat(pageOf(odd.body).items.map(idOf).join() === first.join(), 'other stories than on the first page');
    },
  },
]);

/** Returns the story that the searches look for, and whether the server announces searching. */
async function searchable(world: World) {
  const { body } = await (await world.visitor()).get('/capabilities');
  const { data } = (body ?? {}) as { data?: unknown };
  const [story] = pageOf((await world.feed()).body).items;
  return { story, isOffered: Array.isArray(data) && data.includes('stories.search') };
}

const storySearchChecks = checksOf('GET /v1/stories', [
  {
    name: 'finds a story by its title and by its tag, where it announces stories.search',
    otherwise: 'says that nothing was found, or shows what does not fit',
    async run(world) {
      const { story, isOffered } = await searchable(world);
      if (!isOffered || !story) return;
      const { title, tags } = story as { title: string; tags?: string[] };
      const searches = [`q=${encodeURIComponent(title)}`, ...(tags?.[0] ? [`tag=${encodeURIComponent(tags[0])}`] : [])];
      for (const search of searches) {
        const answer = await (await world.visitor()).get(`/stories?${search}`);
        expectStatus(answer, 200);
        const foundIds = pageOf(answer.body).items.map(idOf);
        expectThat(foundIds.includes(idOf(story)), `${search} does not find ${idOf(story)}`);
      }
      for (const search of ['q=no-story-has-these-words', 'tag=no-such-tag']) {
        const none = await (await world.visitor()).get(`/stories?${search}`);
        expectStatus(none, 200);
        expectThat(pageOf(none.body).items.length === 0, `${search} finds something`);
      }
    },
  },
  {
    name: 'finds only stories that have the tag, where it announces stories.search',
    otherwise: 'shows what it finds under the tag',
    async run(world) {
      const { story, isOffered } = await searchable(world);
      const { tags: [tag] = [] } = (story ?? {}) as { tags?: string[] };
      if (!isOffered || !tag) return;
      const tagged = pageOf((await (await world.visitor()).get(`/stories?tag=${encodeURIComponent(tag)}`)).body).items;
      const others = tagged.filter(({ tags }) => !Array.isArray(tags) || !tags.includes(tag));
      expectThat(others.length === 0, () => `${shownValue(others[0]?.tags)} for the tag ${tag}`);
    },
  },
  {
    name: 'sorts by age and by readers, where it announces stories.search',
    otherwise: 'says that the list could not be loaded',
    async run(world) {
      const { isOffered } = await searchable(world);
      if (!isOffered) return;
      const feedIds = pageOf((await world.feed()).body).items.map(idOf);
      const [byAge, byReaders] = [
        await (await world.visitor()).get('/stories?sort=new'),
        await (await world.visitor()).get('/stories?sort=hot'),
      ];
      expectStatus(byAge, 200);
      expectStatus(byReaders, 200);
      expectThat(pageOf(byAge.body).items.map(idOf).join() === feedIds.join(), 'sort=new is another order than none');
    },
  },
]);

async function oneStory(world: World) {
  const [id] = await world.stories();
  return { id, answer: await (await world.visitor()).get(`/stories/${encodeURIComponent(id)}`) };
}

const storyPageChecks = checksOf('GET /v1/stories/{id}', [
  {
    name: 'answers a visitor with the story, and what a page needs of it',
    async run(world) {
      const { id, answer } = await oneStory(world);
      expectStatus(answer, 200);
      expectReadable(Story, unwrap(answer.body));
      expectThat(idOf(unwrap(answer.body)) === id, `story ${idOf(unwrap(answer.body))} instead of ${id}`);
    },
  },
  {
    name: 'tells everything of it',
    otherwise: 'leaves out what it is not told',
    async run(world) {
      expectAgreed(Story, unwrap((await oneStory(world)).answer.body));
    },
  },
  {
    name: 'names the reader’s conversation, and none to a visitor',
    otherwise: 'offers 开始 where a conversation could be gone on with; the chat finds it all the same',
    async run(world) {
      const { id, storyId, visitor } = await world.conversation();
      const path = `/stories/${encodeURIComponent(storyId)}`;
      const [memberAnswer, visitorAnswer] = [await visitor.get(path), await (await world.visitor()).get(path)];
      const conversationIds = [memberAnswer, visitorAnswer].map(({ body }) => unwrap(body).conversation_id);
      expectThat(
        String(conversationIds[0]) === id && conversationIds[1] == null,
        () => `${conversationIds[0]} to its reader, ${conversationIds[1]} to a visitor`,
      );
    },
  },
  {
    name: 'has 404 and a message for a story that is none',
    otherwise: 'speaks of a failure instead of a story that is gone',
    async run(world) {
      const answer = await (await world.visitor()).get('/stories/no-such-story');
      expectStatus(answer, 404);
      expectThat(laravelProblem(answer) === null, () => String(laravelProblem(answer)));
    },
  },
]);

const capabilityChecks = checksOf('GET /v1/capabilities', [
  {
    name: 'names to a visitor what the server has beyond the specification',
    async run(world) {
      const answer = await (await world.visitor()).get('/capabilities');
      expectStatus(answer, 200);
      const { data } = answer.body as { data?: unknown };
      expectThat(Array.isArray(data), 'no list in data');
      expectThat(
        data.every((name) => CAPABILITIES.some((known) => known === name)),
        () => `unknown to the product: ${data}`,
      );
    },
  },
  {
    name: 'says what readers pay and are given',
    otherwise: 'tells the figures of `rules` in the site’s configuration, or none',
    async run(world) {
      const { body } = await (await world.visitor()).get('/capabilities');
      const { rules } = recordOf(body);
      const figures = ['sign_up_gift', 'continue_price', 'suggestion_price'].map((name) => recordOf(rules)[name]);
      expectThat(figures.every(Number.isInteger), () => `rules: ${JSON.stringify(rules)}`);
    },
  },
]);

const wechatChecks = checksOf('GET /v1/wechat/signature', [
  {
    name: 'signs a page of the product',
    async run(world) {
      await world.assertAnnounced('wechat.share');
      const url = encodeURIComponent(`${world.target.origin}/explore`);
      const answer = await (await world.visitor()).get(`/wechat/signature?url=${url}`);
      expectStatus(answer, 200);
      expectThat(v.is(wechatSignatureSchema, answer.body), () => shownValue(answer.body));
    },
  },
  {
    name: 'refuses to sign another site’s page',
    otherwise: 'lets any site speak for the Official Account',
    async run(world) {
      await world.assertAnnounced('wechat.share');
      const url = encodeURIComponent('https://elsewhere.example/explore');
      expectStatus(await (await world.visitor()).get(`/wechat/signature?url=${url}`), 422);
    },
  },
]);

async function expectPicture(address: string, base: string): Promise<void> {
  const response = await fetch(new URL(address, base), { signal: AbortSignal.timeout(10_000) }).catch(() => {
    throw new Deviation(`${address} cannot be fetched`);
  });
  const type = response.headers.get('content-type') ?? 'no type';
  await response.body?.cancel();
  expectThat(response.ok && type.startsWith('image/'), `${address} answers ${response.status} ${type}`);
}

const pictureChecks = checksOf('GET /media/avatars.json', [
  {
    name: 'lists portraits to choose from',
    async run(world) {
      const answer = await (await world.visitor()).get('//api/media/avatars.json');
      expectSuccess(answer);
      const { data } = (answer.body ?? {}) as { data?: unknown };
      const addresses = Array.isArray(answer.body) ? answer.body : data;
      expectThat(Array.isArray(addresses) && addresses.length > 0, 'no list of addresses');
    },
  },
  {
    name: 'has addresses that are pictures, as are the covers',
    otherwise: 'sets the title in the place of a cover, and an initial in that of a portrait',
    async run(world) {
      const { items } = pageOf((await world.feed()).body);
      const { body } = await (await world.visitor()).get('//api/media/avatars.json');
      const portraits = Array.isArray(body) ? body : (body as { data?: unknown[] } | null)?.data;
      const cast = items.flatMap(({ author, characters }) => [
        author,
        ...(Array.isArray(characters) ? characters : []),
      ]);
      const avatars = cast.map((person) => recordOf(person).avatar);
      const addresses = [items[0]?.cover_url, ...(portraits ?? []).slice(0, PICTURES), ...avatars.slice(0, PICTURES)];
      for (const address of addresses) if (address != null) await expectPicture(String(address), world.target.url);
      expectThat(typeof items[0]?.cover_url === 'string', 'a story without a cover');
    },
  },
]);

const favoriteChecks = checksOf('PUT /v1/stories/{id}/favorite', [
  {
    name: 'saves a story for its reader alone, and lets it go',
    otherwise: 'shows what the list has',
    async run(world) {
      await world.assertAnnounced('stories.favorites');
      const [id] = await world.stories();
      const [{ visitor }, other] = [await world.member('mine'), await world.member('theirs')];
      const favoriteIds = async (who: typeof visitor) => pageOf((await who.get('/favorites')).body).items.map(idOf);
      for (const favorite of [true, true, false]) {
        const answer = await visitor.put(`/stories/${encodeURIComponent(id)}/favorite`, { favorite });
        expectStatus(answer, 200);
        expectThat(
          (await favoriteIds(visitor)).filter((one) => one === id).length === Number(favorite),
          `not ${favorite}`,
        );
        expectThat(!(await favoriteIds(other.visitor)).includes(id), 'another reader has it, too');
      }
    },
  },
]);

const favoriteListChecks = checksOf('GET /v1/favorites', [
  {
    name: 'has 401 for a guest',
    otherwise: 'shows what it is sent',
    async run(world) {
      await world.assertAnnounced('stories.favorites');
      expectStatus(await (await world.visitor()).get('/favorites'), 401);
    },
  },
]);

export const storyChecks = [
  ...favoriteChecks,
  ...favoriteListChecks,
  ...feedChecks,
  ...storySearchChecks,
  ...storyPageChecks,
  ...pictureChecks,
  ...capabilityChecks,
  ...wechatChecks,
];
