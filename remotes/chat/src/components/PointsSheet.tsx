import { formatPoints } from '@liaozhai/shared/format';
import { Link, paths, toast, useSelector, useUser } from '@liaozhai/shared/runtime';
import { CheckInIcon, GiftIcon, ListRow, Sheet, SupportIcon, WalletIcon } from '@liaozhai/shared/ui';
import { useEffect, useRef } from 'react';
import { rewards, selectLacksPoints } from '../api/points';
import { texts } from '../texts';
import type { ChatSheetProps } from './ChatSheet';
import styles from './ChatSheet.module.css';

const SIZE = 20;

interface PointsSheetProps extends ChatSheetProps {
  /** 0 if unknown. */
  cost: number;
  refusal?: string;
}

/** Shows how many points are needed and the ways to get them. Closes once the balance suffices, unless the server refused it. */
export function PointsSheet({ sheet, story: { id: storyId }, cost, refusal, onClose }: PointsSheetProps) {
  const user = useUser();
  const lacksPoints = useSelector((state) => selectLacksPoints(state, storyId, cost));
  // the server may have refused what this page's balance would cover: then the sheet stays open
  const didLackPoints = useRef(lacksPoints);
  useEffect(() => {
    if (didLackPoints.current && !lacksPoints && !refusal) {
      toast(texts.points.enough);
      onClose();
    }
    didLackPoints.current = lacksPoints;
  }, [lacksPoints, refusal, onClose]);
  if (!user) return null;
  const balance = cost === 0 || user.balance === undefined ? undefined : formatPoints(user.balance);
  const isContradicted = balance !== undefined && !lacksPoints && refusal !== undefined;
  const { checkIn, invite } = rewards(user);
  const checkInDetail =
    checkIn === undefined ? texts.points.checkInOpen : texts.points.checkInFor(formatPoints(checkIn));
  return (
    <Sheet open={sheet?.kind === 'points'} onClose={onClose} title={texts.points.title}>
      <p className={styles.about}>
        {balance === undefined
          ? texts.points.aboutPlain
          : isContradicted
            ? texts.points.contradiction(refusal, balance)
            : texts.points.about(formatPoints(cost), balance)}
      </p>
      <ListRow
        title={texts.points.checkIn}
        icon={<CheckInIcon size={SIZE} />}
        detail={user.checkedInToday ? texts.points.checkInDone : checkInDetail}
        asLink={user.checkedInToday ? undefined : <Link to={paths.my()} onClick={onClose} />}
      />
      <ListRow
        title={texts.points.invite}
        icon={<GiftIcon size={SIZE} />}
        detail={invite === undefined ? texts.points.inviteOpen : texts.points.inviteFor(formatPoints(invite))}
        asLink={<Link to={paths.my()} onClick={onClose} />}
      />
      <ListRow
        title={texts.points.recharge}
        icon={<WalletIcon size={SIZE} />}
        asLink={<Link to={paths.recharge()} onClick={onClose} />}
      />
      {isContradicted && (
        <ListRow
          title={texts.points.support}
          icon={<SupportIcon size={SIZE} />}
          asLink={<Link to={paths.support()} onClick={onClose} />}
        />
      )}
    </Sheet>
  );
}
