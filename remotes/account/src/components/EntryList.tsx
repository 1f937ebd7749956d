import { Link, paths } from '@liaozhai/shared/runtime';
import { Card, ListRow, SupportIcon, TransactionsIcon, UserIcon, WalletIcon } from '@liaozhai/shared/ui';
import { texts } from '../texts';

/** The ways to the pages below 我的. */
export function EntryList() {
  return (
    <Card flush>
      <nav aria-label={texts.my.more}>
        <ListRow
          icon={<UserIcon size={20} />}
          title={texts.my.profile}
          detail={texts.my.profileDetail}
          asLink={<Link to={paths.profile()} />}
        />
        <ListRow
          icon={<TransactionsIcon size={20} />}
          title={texts.my.transactions}
          asLink={<Link to={paths.transactions()} />}
        />
        <ListRow icon={<WalletIcon size={20} />} title={texts.my.recharge} asLink={<Link to={paths.recharge()} />} />
        <ListRow icon={<SupportIcon size={20} />} title={texts.my.support} asLink={<Link to={paths.support()} />} />
      </nav>
    </Card>
  );
}
