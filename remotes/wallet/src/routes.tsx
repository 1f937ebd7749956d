import type { RouteDefinition, SlotDefinition } from '@liaozhai/shared/runtime';
import { texts } from './texts';

export const routes: RouteDefinition[] = [
  {
    name: 'transactions',
    path: '/my/wallet/transactions',
    title: texts.transactions.title,
    requiresAuth: true,
    page: () => import(/* webpackChunkName: "transactions" */ './pages/TransactionListPage'),
  },
  {
    name: 'recharge',
    path: '/my/wallet/recharge',
    title: texts.recharge.title,
    requiresAuth: true,
    page: () => import(/* webpackChunkName: "recharge" */ './pages/BalanceRechargePage'),
  },
  {
    name: 'order',
    path: '/my/wallet/orders/:id',
    title: texts.order.title,
    requiresAuth: true,
    page: () => import(/* webpackChunkName: "order" */ './pages/OrderReadPage'),
  },
];

export const slots: SlotDefinition[] = [
  { name: 'my.balance', component: () => import(/* webpackChunkName: "my.balance" */ './components/BalanceLine') },
];
