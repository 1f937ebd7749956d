import {
  ChatIcon,
  CheckInIcon,
  ContinueIcon,
  GiftIcon,
  PointsIcon,
  RefreshIcon,
  SparkIcon,
  TransactionsIcon,
} from '@liaozhai/shared/ui';
import type { Transaction } from '../model';

const icons = {
  message: ChatIcon,
  continue: ContinueIcon,
  suggestion: SparkIcon,
  recharge: PointsIcon,
  check_in: CheckInIcon,
  invite: GiftIcon,
  refund: RefreshIcon,
  other: TransactionsIcon,
} satisfies Record<Transaction['kind'], unknown>;

export function KindIcon({ kind }: { kind: Transaction['kind'] }) {
  const Icon = icons[kind];
  return <Icon size={20} aria-hidden="true" />;
}
