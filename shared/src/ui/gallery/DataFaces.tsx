import { Button, Card, type Drawing, EmptyState, EndOfList, ErrorRow, InfiniteList, QueryView, Skeleton } from '..';
import { Specimen } from './Specimen';

const refetch = () => undefined;
const drawings: Drawing[] = ['moon', 'mountain', 'book'];

export function DataFaces() {
  return (
    <>
      <Specimen title="QueryView：加载 · 出错 · 空 · 有">
        <QueryView query={{ isFetching: true, refetch }} skeleton={<Skeleton shape="row" count={2} />}>
          {() => null}
        </QueryView>
        <Card>
          <QueryView query={{ error: { kind: 'offline' }, refetch }}>{() => null}</QueryView>
        </Card>
        <QueryView
          query={{ data: [], refetch }}
          isEmpty={(list) => list.length === 0}
          empty={<EmptyState text="还没有聊过，去发现挑一个故事吧" action={<Button>去发现</Button>} />}
        >
          {() => null}
        </QueryView>
        <QueryView query={{ data: ['画皮', '促织'], refetch }}>{(list) => <p>{list.join('、')}</p>}</QueryView>
      </Specimen>
      <Specimen title="EmptyState">
        {drawings.map((drawing) => (
          <EmptyState key={drawing} drawing={drawing} text="这个故事不在这里了" />
        ))}
      </Specimen>
      <Specimen title="Skeleton">
        <Skeleton />
        <Skeleton shape="card" count={2} />
      </Specimen>
      <Specimen title="InfiniteList：加载 · 出错 · 到底 · ErrorRow">
        <InfiniteList hasMore loading onMore={refetch}>
          第一页
        </InfiniteList>
        <InfiniteList hasMore loading={false} error={{ kind: 'timeout' }} onMore={refetch}>
          第一页
        </InfiniteList>
        <EndOfList />
        <ErrorRow text="暂时打不开" onRetry={refetch} retrying />
      </Specimen>
    </>
  );
}
