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
    // in the chunk of the route's page, since both only render the slot `conversations.member`
    name: 'conversations',
    component: () =>
      import(/* webpackChunkName: "conversations" */ './pages/ConversationListPage').then(({ ConversationColumn }) => ({
        default: ConversationColumn,
      })),
  },
  {
    // members' pages fetch it together with the route (`memberPart` of the contract)
    name: 'conversations.member',
    component: () => import(/* webpackChunkName: "conversations.member" */ './components/ConversationList'),
  },
  { name: 'story.chat', component: () => import(/* webpackChunkName: "story.chat" */ './pages/StoryChatPage') },
];
