import type { RouteDefinition } from '@liaozhai/shared/runtime';
import { texts } from './texts';

export const routes: RouteDefinition[] = [
  {
    name: 'sample',
    path: '/sample',
    title: texts.list.title,
    page: () => import(/* webpackChunkName: "sample" */ './pages/SampleListPage'),
  },
];
