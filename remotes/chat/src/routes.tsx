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
  {
    // the list of its route, in the same chunk
    name: 'conversations',
    component: () =>
      import(/* webpackChunkName: "conversations" */ './pages/ConversationListPage').then(({ ConversationColumn }) => ({
        default: ConversationColumn,
      })),
  },
  { name: 'story.chat', component: () => import(/* webpackChunkName: "story.chat" */ './pages/StoryChatPage') },
];
