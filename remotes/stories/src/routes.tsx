import type { RouteDefinition } from '@liaozhai/shared/runtime';
import { texts } from './texts';

export const routes: RouteDefinition[] = [
  {
    name: 'explore',
    path: '/explore',
    title: texts.list.title,
    keepAlive: true,
    page: () => import(/* webpackChunkName: "explore" */ './pages/StoryListPage'),
  },
  {
    name: 'story',
    path: '/story/:id',
    title: texts.story.title,
    keepAlive: true,
    outsideShell: true,
    page: () => import(/* webpackChunkName: "story" */ './pages/StoryReadPage'),
  },
  {
    name: 'favorites',
    path: '/my/favorites',
    title: texts.favorites.title,
    requiresAuth: true,
    page: () => import(/* webpackChunkName: "favorites" */ './pages/FavoriteListPage'),
  },
];
