import { browserslist, cssTargets, RemotePlugin } from '@liaozhai/build/plugin';
import ReactRefreshPlugin from '@pmmmwh/react-refresh-webpack-plugin';
import CssMinimizerPlugin from 'css-minimizer-webpack-plugin';
import MiniCssExtractPlugin from 'mini-css-extract-plugin';

// `--env dev=alone` is npm run dev, `--env dev=inside` npm run dev:inside; without it a build to be published
export default ({ dev }) => {
  const isAlone = dev === 'alone';
  const compile = (refresh) => ({
    loader: 'swc-loader',
    options: {
      env: { targets: browserslist },
      jsc: {
        parser: { syntax: 'typescript', tsx: true },
        transform: { react: { runtime: 'automatic', development: isAlone, refresh } },
      },
    },
  });
  return {
    mode: isAlone ? 'development' : 'production',
    resolve: { extensions: ['.tsx', '.ts', '.js'] },
    module: {
      rules: [
        { test: /\.[jt]sx?$/, exclude: /node_modules/, use: compile(isAlone) },
        // what libraries publish may be newer than the oldest browser the product works in
        { test: /\.m?js$/, include: /node_modules/, exclude: /react-refresh|webpack|core-js/, use: compile(false) },
        {
          test: /\.css$/,
          use: [
            MiniCssExtractPlugin.loader,
            { loader: 'css-loader', options: { modules: { auto: true, namedExport: false } } },
          ],
        },
      ],
    },
    plugins: [
      new RemotePlugin({ name: 'sample', label: '样例', devPort: 3101, dev }),
      // a hash would keep a page from taking an edited stylesheet
      new MiniCssExtractPlugin({ chunkFilename: isAlone ? '[name].css' : '[name].[contenthash:8].css' }),
      ...(isAlone ? [new ReactRefreshPlugin({ overlay: false })] : []),
    ],
    optimization: {
      minimizer: [
        '...',
        // compiles styles to what the oldest browsers read, too
        new CssMinimizerPlugin({
          minify: CssMinimizerPlugin.lightningCssMinify,
          minimizerOptions: { targets: cssTargets },
        }),
      ],
    },
    performance: { hints: false },
  };
};
