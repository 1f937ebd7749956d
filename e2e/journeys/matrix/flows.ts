import type { Locator } from '@playwright/test';
import { expect } from '../../person.ts';
import type { Scene } from './scene.ts';

interface Flow {
  name: string;
  remote: 'chat' | 'account' | 'wallet';
  /** Navigates to the screen from 发现, by taps. */
  towards(scene: Scene): Promise<void>;
  /** Prepares the screen, so that the act is one tap away. */
  ready(scene: Scene): Promise<void>;
  /** The act; missing for a flow that only reads. */
  act?(scene: Scene): Promise<void>;
  /** The page's offer to repeat the act after a failure. */
  again?(scene: Scene): Locator;
  /** Shows that the act is done, unless `onTheWay` is visible. */
  shown(scene: Scene): Locator;
  onTheWay?(scene: Scene): Locator;
  /** Expects the result exactly once on the server. */
  once(scene: Scene): Promise<void>;
}

const messageText = '山中夜雨，可有人来';
const persona = '夜里赶路的书生';
const tab = ({ page }: Scene, name: string) => page.getByRole('navigation').getByRole('link', { name }).tap();
const count = async ({ person }: Scene, path: string) => (await person.read<{ data: unknown[] }>(path)).data.length;
const sentMessage = ({ person }: Scene) => person.log().getByText(messageText, { exact: true });
const saveButton = ({ page }: Scene) => page.getByRole('button', { name: '保存', exact: true });
const checkInButton = ({ page }: Scene) => page.getByRole('button', { name: /^签到/ });

export const flows: readonly Flow[] = [
  {
    name: 'story and chat',
    remote: 'chat',
    towards: async ({ page }) => {
      await page.locator('main a[href^="/story/"]').first().tap();
      await page
        .getByRole('link', { name: /(开始|继续|进入)聊天/ })
        .or(page.getByRole('button', { name: /(开始|继续|进入)聊天/ }))
        .first()
        .tap();
    },
    ready: async ({ person }) => expect(person.log()).toBeVisible(),
    act: ({ person }) => person.says(messageText),
    again: ({ page }) => page.getByRole('button', { name: '点按重试' }),
    shown: sentMessage,
    onTheWay: ({ person }) => person.log().getByText(/发送中|等待网络|连不上|自动发出|点按重试/),
    once: async (scene) => {
      const lines = async () => (await scene.person.latest()).data.filter(({ body }) => body === messageText).length;
      await expect.poll(lines).toBe(1);
      await expect.poll(() => scene.person.latestStatus()).toMatch(/completed|failed/);
      expect(await count(scene, '/api/v1/transactions?type=message')).toBe(1);
      await expect(sentMessage(scene)).toHaveCount(1);
    },
  },
  {
    name: 'conversations',
    remote: 'chat',
    towards: (scene) => tab(scene, '聊过'),
    ready: async () => {},
    shown: ({ page }) => page.getByText('还没有聊过，去发现挑一个故事吧'),
    once: async (scene) => expect(await count(scene, '/api/v1/conversations')).toBe(0),
  },
  {
    name: 'check-in',
    remote: 'account',
    towards: (scene) => tab(scene, '我的'),
    ready: async (scene) => expect(checkInButton(scene)).toBeVisible(),
    act: (scene) => checkInButton(scene).tap(),
    again: checkInButton,
    shown: ({ page }) => page.getByText(/今日已签到/),
    once: async (scene) => expect(await count(scene, '/api/v1/transactions?type=check_in')).toBe(1),
  },
  {
    name: 'profile',
    remote: 'account',
    towards: async (scene) => {
      await tab(scene, '我的');
      await scene.page
        .getByRole('link', { name: /个人资料/ })
        .last()
        .or(scene.page.getByText('暂时打不开'))
        .first()
        .tap();
    },
    ready: ({ page }) => page.getByRole('textbox', { name: /人设/ }).fill(persona),
    act: (scene) => saveButton(scene).tap(),
    again: saveButton,
    shown: ({ page }) => page.getByText('已保存'),
    once: async ({ person }) => {
      const user = async () => (await person.read<{ data: { persona: string } }>('/api/v1/user')).data.persona;
      await expect.poll(user).toBe(persona);
    },
  },
  {
    name: 'wallet',
    remote: 'wallet',
    towards: async (scene) => {
      await tab(scene, '我的');
      await scene.page
        .getByRole('link', { name: /消费明细/ })
        .first()
        .tap();
    },
    ready: async () => {},
    shown: ({ page }) => page.getByRole('region', { name: '今天' }).getByRole('listitem'),
    once: async (scene) => {
      await expect(scene.page.getByRole('region', { name: '今天' }).getByRole('listitem')).toHaveCount(1);
      expect(await count(scene, '/api/v1/transactions')).toBe(1);
    },
  },
];
