import { useState } from 'react';
import { ListRow, PullToRefresh, SwipeRow } from '..';
import { Specimen } from './Specimen';

export function GestureStates() {
  const [refreshes, setRefreshes] = useState(0);
  const [rows, setRows] = useState(['画皮', '促织', '婴宁']);
  const refresh = () =>
    new Promise<void>((done) => {
      setTimeout(() => {
        setRefreshes((count) => count + 1);
        done();
      }, 1200);
    });
  return (
    <Specimen title="PullToRefresh · SwipeRow">
      <PullToRefresh onRefresh={refresh}>
        <ListRow title="往下拉" value={`刷新过 ${refreshes} 次`} />
        {rows.map((row) => (
          <SwipeRow key={row} actionLabel="删除" onAction={() => setRows(rows.filter((other) => other !== row))}>
            <ListRow title={row} detail="向左滑出删除" />
          </SwipeRow>
        ))}
      </PullToRefresh>
    </Specimen>
  );
}
