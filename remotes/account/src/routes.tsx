import type { RouteDefinition, SlotDefinition } from '@liaozhai/shared/runtime';
import { texts } from './texts';

export const routes: RouteDefinition[] = [
  {
    name: 'my',
    path: '/my',
    title: texts.my.title,
    keepAlive: true,
    page: () => import(/* webpackChunkName: "my" */ './pages/AccountViewPage'),
  },
  {
    name: 'profile',
    path: '/my/profile',
    title: texts.profile.title,
    requiresAuth: true,
    page: () => import(/* webpackChunkName: "profile" */ './pages/ProfileEditPage'),
  },
  {
    name: 'security',
    path: '/my/security',
    title: texts.my.security,
    requiresAuth: true,
    page: () => import(/* webpackChunkName: "security" */ './pages/SecurityEditPage'),
  },
  {
    name: 'minorMode',
    path: '/my/minor',
    title: texts.minor.title,
    requiresAuth: true,
    page: () => import(/* webpackChunkName: "minorMode" */ './pages/MinorModePage'),
  },
  {
    name: 'support',
    path: '/my/support',
    title: texts.support.title,
    requiresAuth: true,
    page: () => import(/* webpackChunkName: "support" */ './pages/SupportReadPage'),
  },
  {
    name: 'terms',
    path: '/terms',
    title: texts.legal.terms,
    page: () => import(/* webpackChunkName: "terms" */ './pages/LegalReadPage'),
  },
  {
    name: 'privacy',
    path: '/privacy',
    title: texts.legal.privacy,
    page: () => import(/* webpackChunkName: "privacy" */ './pages/LegalReadPage'),
  },
];

export const slots: SlotDefinition[] = [
  {
    name: 'minor',
    component: () => import(/* webpackChunkName: "minor" */ './components/MinorSlot'),
  },
  {
    name: 'legal',
    component: () =>
      import(/* webpackChunkName: "legal" */ './pages/LegalReadPage').then(({ LegalText }) => ({ default: LegalText })),
  },
];
