import { CAPABILITIES, wechatSignatureSchema } from '@liaozhai/shared/contract';
import * as v from 'valibot';
import { type Check, checksOf, Deviation, expectThat, laravelProblem, shown, tolerated } from '../check.ts';
import { expectFields, idOf, recordOf, Story } from '../entities.ts';
import { pathOf, type VisitorAnswer } from '../visitor.ts';
import { FOREIGN_SITE, listOf, pagesOf, type World } from '../world.ts';

const MAX_PAGES = 30;
/** number of pictures fetched of each kind */
const PICTURES = 3;

async function oneStory(world: World) {
  const [id] = await world.stories();
  return { id, answer: await world.visit(pathOf`/stories/${id}`) };
}

/** Returns the addresses of portraits, from a bare list or one in `data`; none from another answer. */
function portraitsOf({ body }: VisitorAnswer): unknown[] {
  const addresses = Array.isArray(body) ? body : recordOf(body).data;
  return Array.isArray(addresses) ? addresses : [];
}

async function expectPicture(address: string, base: string): Promise<void> {
  const response = await fetch(new URL(address, base), { signal: AbortSignal.timeout(10_000) }).catch(() => {
    throw new Deviation(`${address} cannot be fetched`);
  });
  const type = response.headers.get('content-type') ?? 'no type';
  await response.body?.cancel();
  expectThat(response.ok && type.startsWith('image/'), `${address} answers ${response.status} ${type}`);
}

export const storyChecks: Check[] = [
  ...checksOf('PUT /v1/stories/{id}/favorite', {
    'saves a story for its reader alone, and lets it go': tolerated(async (world) => {
      await world.assertAnnounced('stories.favorites');
      const [id] = await world.stories();
      const [{ visitor }, other] = [await world.member('mine'), await world.member('theirs')];
      const favoriteIds = async (who: typeof visitor) => (await listOf(who, '/favorites')).map(idOf);
      for (const favorite of [true, true, false]) {
        const answer = await visitor.put(pathOf`/stories/${id}/favorite`, { favorite });
        answer.expectStatus(200);
        expectFields('the answer', answer.entity, { id, is_favorite: favorite });
        const story = (await visitor.get(pathOf`/stories/${id}`)).entity;
        expectFields('Story', story, { is_favorite: favorite });
        const listed = (await favoriteIds(visitor)).filter((one) => one === id);
        expectThat(listed.length === Number(favorite), `not ${favorite}`);
        expectThat(!(await favoriteIds(other.visitor)).includes(id), 'another reader has it, too');
      }
    }, 'shows what the list has'),
  }),
  ...checksOf('GET /v1/favorites', {
    'lists the story last saved first': tolerated(async (world) => {
      await world.assertAnnounced('stories.favorites');
      const ids = await world.stories();
      const save = (id: string, favorite: boolean) => world.mine.put(pathOf`/stories/${id}/favorite`, { favorite });
      for (const id of ids) (await save(id, true)).expectSuccess();
      const listedIds = (await listOf(world.mine, '/favorites')).map(idOf).filter((id) => ids.includes(id));
      for (const id of ids) await save(id, false);
      expectThat(listedIds.join() === ids.toReversed().join(), listedIds.join());
    }, 'shows the order of the answer'),
    'has 401 for a guest': tolerated(async (world) => {
      await world.assertAnnounced('stories.favorites');
      (await world.visit('/favorites')).expectStatus(401);
    }, 'shows what it is sent'),
  }),
  ...checksOf('GET /v1/stories', {
    async 'answers a visitor with a page of stories'(world) {
      const feed = (await world.feed()).expectStatus(200);
      expectThat(feed.items.length > 0, 'a feed without a story: publish one, or nothing can be tried');
    },
    'gives each story what a page needs': async (world) => Story.expectReadable(...(await world.feedStories())),
    'gives each story every field': tolerated(
      async (world) => Story.expectAgreed(...(await world.feedStories())),
      'leaves out what is missing',
    ),
    'goes on by next_cursor to the end, each story once': tolerated(async (world) => {
      const visitor = await world.visitor();
      const seenIds = new Set<string>();
      let page = 0;
      for await (const items of pagesOf(visitor, '/stories', await world.feed())) {
        page += 1;
        if (page > MAX_PAGES) return;
        const newIds = [...new Set(items.map(idOf))].filter((id) => !seenIds.has(id));
        expectThat(newIds.length === items.length, `page ${page} repeats ${items.length - newIds.length} stories`);
        for (const id of newIds) seenIds.add(id);
      }
      if (!(await world.announces('stories.search'))) return;
      // stories by another order or tag must also be in the complete feed
      const { tags } = ((await world.feedStories())[0] ?? {}) as { tags?: string[] };
      for (const search of ['sort=hot', ...(tags ?? []).map((tag) => `tag=${encodeURIComponent(tag)}`)]) {
        const others = (await listOf(visitor, `/stories?${search}`)).map(idOf);
        const unseenIds = others.filter((id) => !seenIds.has(id));
        const counts = `it ends after ${seenIds.size} stories; ${search} has ${unseenIds.length} others`;
        expectThat(unseenIds.length === 0, counts);
      }
    }, 'shows doubles once, and stops where a page adds nothing'),
    'keeps its order from one look to the next': tolerated(async (world) => {
      const [first, again] = [await world.feed(), await world.visit('/stories')];
      const [ids, later] = [first, again].map(({ items }) => items.map(idOf).join());
      expectThat(ids === later, `${ids}, then ${later}`);
    }, 'puts what it has not seen first; places move under a finger'),
    'answers HEAD and OPTIONS without a failure of its own': tolerated(async (world) => {
      const visitor = await world.visitor();
      (await visitor.send('HEAD', '/stories')).expectStatus(200);
      const { status } = await visitor.send('OPTIONS', '/stories');
      expectThat(status < 500, `${status} to OPTIONS`);
    }, 'sends neither; link checkers, caches and pages of other origins do'),
    'gives the first page for an invalid cursor': tolerated(async (world) => {
      const odd = (await world.visit('/stories?cursor=%00nonsense')).expectStatus(200);
      const first = (await world.feedStories()).map(idOf);
      expectThat(odd.items.map(idOf).join() === first.join(), 'other stories than on the first page');
    }, 'says that the rest could not be loaded, and offers to try again'),
    'finds a story by its title and by its tag, where it announces stories.search': tolerated(async (world) => {
      const [story] = await world.feedStories();
      if (!story || !(await world.announces('stories.search'))) return;
      const { title, tags } = story as { title: string; tags?: string[] };
      const searches = [`q=${encodeURIComponent(title)}`, ...(tags?.[0] ? [`tag=${encodeURIComponent(tags[0])}`] : [])];
      for (const search of searches) {
        const foundIds = (await world.visit(`/stories?${search}`)).expectStatus(200).items.map(idOf);
        expectThat(foundIds.includes(idOf(story)), `${search} does not find ${idOf(story)}`);
      }
      for (const search of ['q=no-story-has-these-words', 'tag=no-such-tag']) {
        const none = (await world.visit(`/stories?${search}`)).expectStatus(200);
        expectThat(none.items.length === 0, `${search} finds something`);
      }
    }, 'says that nothing was found, or shows what does not fit'),
    'finds only stories that have the tag, where it announces stories.search': tolerated(async (world) => {
      const [story] = await world.feedStories();
      const { tags: [tag] = [] } = (story ?? {}) as { tags?: string[] };
      if (!tag || !(await world.announces('stories.search'))) return;
      const tagged = await listOf(await world.visitor(), pathOf`/stories?tag=${tag}`);
      const others = tagged.filter(({ tags }) => !Array.isArray(tags) || !tags.includes(tag));
      expectThat(others.length === 0, `${shown(others[0]?.tags)} for the tag ${tag}`);
    }, 'shows what it finds under the tag'),
    'sorts by age and by readers, where it announces stories.search': tolerated(async (world) => {
      if (!(await world.announces('stories.search'))) return;
      const feedIds = (await world.feedStories()).map(idOf);
      const byAge = (await world.visit('/stories?sort=new')).expectStatus(200);
      (await world.visit('/stories?sort=hot')).expectStatus(200);
      expectThat(byAge.items.map(idOf).join() === feedIds.join(), 'sort=new is another order than none');
    }, 'says that the list could not be loaded'),
  }),
  ...checksOf('GET /v1/stories/{id}', {
    async 'answers a visitor with the story, and what a page needs of it'(world) {
      const { id, answer } = await oneStory(world);
      answer.expectStatus(200);
      Story.expectReadable(answer.entity);
      const listed = (await world.feedStories()).find((story) => idOf(story) === id) ?? {};
      const { title, price_per_message } = listed;
      expectFields('Story', answer.entity, { id, title, price_per_message });
    },
    'gives every field of it': tolerated(
      async (world) => Story.expectAgreed((await oneStory(world)).answer.entity),
      'leaves out what is missing',
    ),
    'names the reader’s conversation, and none to a visitor': tolerated(async (world) => {
      const { id, storyId, visitor } = await world.conversation();
      const path = pathOf`/stories/${storyId}`;
      const [memberAnswer, visitorAnswer] = [await visitor.get(path), await world.visit(path)];
      const [own, other] = [memberAnswer, visitorAnswer].map(({ entity }) => entity.conversation_id);
      expectThat(String(own) === id && other == null, `${own} to its reader, ${other} to a visitor`);
    }, 'offers 开始 where a conversation could be gone on with; the chat finds it all the same'),
    'has 404 and a message for a missing story': tolerated(async (world) => {
      const answer = (await world.visit('/stories/no-such-story')).expectStatus(404);
      expectThat(laravelProblem(answer) === null, String(laravelProblem(answer)));
    }, 'speaks of a failure instead of a story that is gone'),
  }),
  ...checksOf('GET /media/avatars.json', {
    async 'lists portraits to choose from'(world) {
      const answer = (await world.visit('//api/media/avatars.json')).expectSuccess();
      expectThat(portraitsOf(answer).length > 0, 'no list of addresses');
    },
    'has addresses that are pictures, as are the covers': tolerated(async (world) => {
      const items = await world.feedStories();
      const portraits = portraitsOf(await world.visit('//api/media/avatars.json'));
      const cast = items.flatMap(({ author, characters }) => [author, characters].flat());
      const avatars = cast.map((person) => recordOf(person).avatar);
      const addresses = [items[0]?.cover_url, ...portraits.slice(0, PICTURES), ...avatars.slice(0, PICTURES)];
      for (const address of addresses) if (address != null) await expectPicture(String(address), world.target.url);
      expectThat(typeof items[0]?.cover_url === 'string', 'a story without a cover');
    }, 'sets the title in the place of a cover, and an initial in that of a portrait'),
  }),
  ...checksOf('GET /v1/capabilities', {
    async 'names to a visitor what the server has beyond the specification'(world) {
      const { data } = (await world.visit('/capabilities')).expectStatus(200).body as { data?: unknown };
      expectThat(Array.isArray(data), 'no list in data');
      const known: readonly unknown[] = CAPABILITIES;
      expectThat(data.filter((name) => !known.includes(name)).length === 0, `unknown to the product: ${data}`);
    },
    'says what readers pay and are given': tolerated(async (world) => {
      const { body } = await world.visit('/capabilities');
      const { rules } = recordOf(body);
      const figures = ['sign_up_gift', 'continue_price', 'suggestion_price'].map((name) => recordOf(rules)[name]);
      expectThat(figures.every(Number.isInteger), `rules: ${JSON.stringify(rules)}`);
    }, 'shows the figures of `rules` in the site’s configuration, or no figures'),
  }),
  ...checksOf('GET /v1/wechat/signature', {
    async 'signs a page of the product'(world) {
      await world.assertAnnounced('wechat.share');
      const path = pathOf`/wechat/signature?url=${`${world.target.origin}/explore`}`;
      const answer = (await world.visit(path)).expectStatus(200);
      expectThat(v.is(wechatSignatureSchema, answer.body), answer.body);
    },
    'refuses to sign another site’s page': tolerated(async (world) => {
      await world.assertAnnounced('wechat.share');
      (await world.visit(pathOf`/wechat/signature?url=${`${FOREIGN_SITE}/explore`}`)).expectStatus(422);
    }, 'lets any site speak for the Official Account'),
  }),
];
