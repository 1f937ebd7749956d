import type { RouteDefinition, SlotDefinition } from '@liaozhai/shared/runtime';
import { texts } from './texts';

export const routes: RouteDefinition[] = [
  {
    name: 'conversations',
    path: '/conversations',
    title: texts.list.title,
    keepAlive: true,
    page: () => import(/* webpackChunkName: "conversations" */ './pages/ConversationListPage'),
  },
];

export const slots: SlotDefinition[] = [
  { name: 'story.chat', component: () => import(/* webpackChunkName: "story.chat" */ './pages/StoryChatPage') },
];
