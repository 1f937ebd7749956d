import { type Behaviour, cutAnswers, failedAnswers, message, startModel } from '../../backend/test/fakeModel.ts';
import { test as base, expect } from '../person.ts';
import { type RunningProduct, startProduct } from '../product.ts';
import { seededAccount } from '../seeds.ts';

interface Stage {
  product: RunningProduct;
  /** Sets the model's behaviour for later requests. */
  behave(way: Behaviour | undefined): void;
}

const test = base.extend<object, { stage: Stage }>({
  stage: [
    async ({ browserName: _ }, use) => {
      let behaviour: Behaviour | undefined;
      const model = await startModel((...call) => (behaviour ?? message('请坐。'))(...call));
      const settings = { AI_BASE_URL: model.baseUrl, AI_MODEL: 'fake', STORYTELLER_IDLE_TIMEOUT_MS: '3000' };
      const product = await startProduct(settings);
      const behave = (way: Behaviour | undefined) => {
        behaviour = way;
      };
      await use({ product, behave });
      await product.stop();
      model.close();
    },
    { scope: 'worker', timeout: 300_000 },
  ],
  baseURL: ({ stage }, use) => use(stage.product.origin),
});

const answers = [
  {
    behave: cutAnswers['finish_reason length'],
    /** Part of the response that the reply keeps. */
    keeps: /公子，夜里风大。”$/,
    says: '这一段太长，先写到这里，点数已退还，可以续写',
    offers: '继续',
  },
  { behave: cutAnswers.content_filter, says: '这一段没能通过审核，点数已退还，可以续写', offers: '继续' },
  { behave: cutAnswers['an error object'], says: '这一段没能写成，点数已退还，可以续写', offers: '继续' },
  { behave: failedAnswers['no text'], says: '这一段没能写成，点数已退还，可以再试一次', offers: '再写一次' },
  { behave: failedAnswers['500'], says: '这一段没能写成，点数已退还，可以再试一次', offers: '再写一次' },
  { behave: failedAnswers['no answer at all'], says: '等得太久，点数已退还，可以再试一次', offers: '再写一次' },
];

test('a model that cuts, filters, breaks off, says nothing, fails or hangs costs nothing, and its reply can be had', async ({
  person,
  page,
  stage,
}) => {
  let balance = 500;
  await person.returns(await seededAccount({ balance }, stage.product.data));
  await person.opensChat();
  const reply = person.log().getByRole('article').last();
  const shown = () => expect(page.getByText(`余额 ${balance} 点`)).toBeVisible();
  await shown();
  for (const [turn, { behave, says, offers, keeps }] of answers.entries()) {
    stage.behave(behave?.behave);
    await person.says(`第${turn}夜`);
    await expect(reply).toContainText(says);
    if (keeps) await expect(reply.locator('p', { hasText: '公子' })).toHaveText(keeps);
    await shown();
    stage.behave(message(`*灯花落了${turn}朵。*`));
    await reply.getByRole('button', { name: `${offers} · 1 点`, exact: true }).tap();
    await expect(reply).toContainText(`灯花落了${turn}朵。`);
    await expect(reply).not.toContainText(says);
    // price of the continuation
    balance -= 1;
    await shown();
  }
});
