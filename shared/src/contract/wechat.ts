import * as v from 'valibot';
import { count, id } from './decode.ts';

/** `GET /v1/wechat/signature?url`: allows the page at that URL to use WeChat's JS-SDK. */
export const wechatSignatureSchema = v.pipe(
  v.object({ data: v.object({ app_id: id, timestamp: count, nonce_str: id, signature: id }) }),
  v.transform(({ data }) => ({
    appId: data.app_id,
    timestamp: data.timestamp,
    nonceStr: data.nonce_str,
    signature: data.signature,
  })),
);
